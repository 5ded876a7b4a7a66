import type { UsageDetail } from '@parley/contract';

/** One person's time in a room, as they themselves saw it. */
export interface Stay {
  sessionId: string;
  node: string;
  joinedMs: number;
  leftMs: number;
  /** Said good-bye, vanished, or was thrown out by a kill. */
  by: 'leave' | 'drop' | 'server' | 'node';
  /** The servers that held the socket. */
  servers: string[];
}

export interface Kill {
  what: 'server' | 'node';
  name: string;
  atMs: number;
}

export interface Bill {
  stays: number;
  /** Sessions that were metered; those of joins whose answer a kill swallowed are `unseen`. */
  metered: number;
  unseen: number;
  missing: number;
  twice: number;
  negative: number;
  /** Further from the truth than one heartbeat for each kill that hit the stay. */
  wrong: number;
  /** Whether the days add up to the sessions. */
  isWholeDaily: boolean;
  meteredSeconds: number;
  trueSeconds: number;
  worstSeconds: number;
  kills: Kill[];
  /** What is wrong, in words. */
  faults: string[];
}

/** A node tells every ten seconds that it lives, a server every five. */
const heartbeatMs = { node: 10_000, server: 5_000 } as const;
/** Between a client's clock reading and the server's, on a machine with more to do than it can. */
const slackMs = 4_000;

type Billed = Pick<UsageDetail, 'sessions' | 'daily'>;

/** Holds what was metered against what happened. */
export function checkBilling(stays: readonly Stay[], billed: readonly Billed[], kills: readonly Kill[]): Bill {
  const sessions = billed.flatMap((one) => one.sessions);
  const byId = new Map(sessions.map((session) => [session.id, session]));
  const known = new Set(stays.map(({ sessionId }) => sessionId));
  const unseen = sessions.filter(({ id }) => !known.has(id));
  const faults: string[] = [];
  let [missing, wrong, worstMs, trueMs] = [0, 0, 0, 0];

  for (const stay of stays) {
    const session = byId.get(stay.sessionId);
    if (!session) {
      missing++;
      faults.push(`${stay.sessionId} was not metered`);
      continue;
    }
    const { lengthMs, allowedMs } = truthOf(stay, kills);
    trueMs += lengthMs;
    const offMs = Math.abs(session.seconds * 1000 - lengthMs);
    worstMs = Math.max(worstMs, offMs);
    if (offMs <= allowedMs) continue;
    wrong++;
    faults.push(`${stay.sessionId} (${stay.by}): metered ${session.seconds} s of ${lengthMs / 1000} s`);
  }
  for (const { id, seconds } of unseen)
    if (seconds * 1000 > heartbeatMs.node + slackMs) {
      wrong++;
      faults.push(`${id}, which no client saw, was metered ${seconds} s`);
    }
  const negative = sessions.filter(({ seconds }) => seconds < 0).length;
  const meteredSeconds = sessions.reduce((sum, { seconds }) => sum + seconds, 0);
  const days = billed.flatMap((one) => one.daily);
  const daySeconds = days.reduce((sum, { minutes }) => sum + minutes * 60, 0);
  const daySessions = days.reduce((sum, day) => sum + day.sessions, 0);
  return {
    stays: stays.length,
    metered: sessions.length,
    unseen: unseen.length,
    missing,
    twice: sessions.length - byId.size,
    negative,
    wrong,
    isWholeDaily: Math.abs(daySeconds - meteredSeconds) < 0.5 && daySessions === sessions.length,
    meteredSeconds: Math.round(meteredSeconds),
    trueSeconds: Math.round(trueMs / 1000),
    worstSeconds: Math.round(worstMs / 100) / 10,
    kills: [...kills],
    faults,
  };
}

/** How long the stay truly was, and how far the meter may be off: one heartbeat for each kill it went through. */
function truthOf(stay: Stay, kills: readonly Kill[]): { lengthMs: number; allowedMs: number } {
  const hits = kills.filter(
    ({ what, name, atMs }) =>
      atMs >= stay.joinedMs - heartbeatMs.node &&
      atMs <= stay.leftMs + slackMs &&
      (what === 'node' ? name === stay.node : stay.servers.includes(name)),
  );
  // A lost node ends its sessions when it was last heard of, however late the client is told.
  const lastNodeKill = hits.filter(({ what }) => what === 'node').at(-1)?.atMs;
  const endMs = stay.by === 'node' && lastNodeKill !== undefined ? Math.max(lastNodeKill, stay.joinedMs) : stay.leftMs;
  const allowedMs = slackMs + hits.reduce((sum, { what }) => sum + heartbeatMs[what], 0);
  return { lengthMs: endMs - stay.joinedMs, allowedMs };
}
