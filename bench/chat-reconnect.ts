import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../apps/server/src/core/sql.ts';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase, type TestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import type { Checked, Returned } from './chat-crowd.ts';
import type { Watched } from './chat-server.ts';
import { addMembers, adminUrl, redisUrl, type Stage, startServer, startStage, tokensOf } from './chat-stage.ts';
import { type Child, startChild } from './children.ts';
import type { Row } from './ratio.ts';
import { countSubscribes } from './redis-usage.ts';

const sockets = 5_000;
/** Messages go on before, during and after. */
const messagesPerSecond = 100;
const awayMs = 5_000;

/** How a crowd is spread over conversations. */
interface Layout {
  name: string;
  conversations: number;
  presence: boolean;
  messagesPerSecond: number;
}

const groups: Layout = { name: 'groups of 20', conversations: 250, presence: true, messagesPerSecond };
/** All sockets subscribe to one conversation, so that few messages are many frames. Presence is off, as in any large room. */
const hall: Layout = { name: 'one conversation', conversations: 1, presence: false, messagesPerSecond: 4 };

interface Outcome {
  returned: Returned;
  checked: Checked;
  reads: number;
  /** Commands to Redis, each with many topics. */
  subscribes: number;
  watched: Watched;
}

/** Sends to every conversation in turn until it is stopped. */
function traffic({ project, rooms }: Stage, perSecond: number): { stop(): Promise<void> } {
  let isOver = false;
  const sending = (async () => {
    for (let at = 0; !isOver; at++) {
      const room = rooms[at % rooms.length] ?? '';
      const body = { text: 'x'.repeat(200), senderId: 'backend', clientMessageId: `t${at}` };
      // A server that is being started again refuses; what counts is what it took.
      await project.api.call('sendMessage', { room, body }).catch(() => undefined);
      await sleep(1000 / perSecond);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await sending;
    },
  };
}

async function headsOf({ db }: TestDatabase): Promise<Record<string, number>> {
  const rows = await db.query<{ room: string; change: number }>(
    sql`select public_id as room, last_change as change from conversations`,
  );
  return Object.fromEntries(rows.map(({ room, change }) => [room, change]));
}

/** Reads of what a return could need; jobs of other parts of the process are not among them. */
const chatReadsOf = (reads: Record<string, number>): number =>
  Object.entries(reads)
    .filter(([text]) => /from (conversations|conversation_members|messages|projects)|join conversations/.test(text))
    .reduce((sum, [, count]) => sum + count, 0);

/** Connections gone at once, and back at once a few seconds later; or the server itself, started again in between. */
async function measure({ conversations, presence, messagesPerSecond }: Layout, isRestarted: boolean): Promise<Outcome> {
  const database = await openTestDatabase({ url: adminUrl });
  const dataDir = await newDataDir();
  const shared = { REDIS_URL: redisUrl, REDIS_KEY_PREFIX: `bench-${process.pid}-${conversations}:` };
  const env = { DATABASE_URL: database.url ?? '', ...shared, COUNT_READS: 'true' };
  const stage = await startStage({ dataDir, env, conversations, users: 1 });
  const crowd = startChild('./chat-crowd.ts');
  let server: Child = stage.child;
  try {
    const users = Array.from({ length: sockets }, (_, at) => `member-${at}`);
    const roomOf = (at: number): string => stage.rooms[at % stage.rooms.length] ?? '';
    for (const [place, room] of stage.rooms.entries()) {
      await addMembers(
        database,
        room,
        users.filter((_, at) => at % conversations === place),
      );
    }
    const members = tokensOf(stage, users).map((token, at) => ({ token, rooms: [roomOf(at)] }));
    await crowd.ask({ gather: { port: stage.port, members, presence } });
    const talk = traffic(stage, messagesPerSecond);
    await sleep(awayMs);
    await crowd.ask({ scatter: true });
    if (isRestarted) {
      await server.stop();
      server = (await startServer({ DATA_DIR: dataDir, ...env, PORT: String(stage.port) })).child;
    } else await sleep(awayMs);
    const subscribed = await countSubscribes(redisUrl);
    await server.ask({ order: 'watch' });
    const returned = await crowd.ask<Returned>({ return: { port: stage.port } });
    const watched = await server.ask<Watched>({ order: 'watched' });
    const subscribes = await subscribed();
    await sleep(awayMs);
    await talk.stop();
    const checked = await crowd.ask<Checked>({ reach: await headsOf(database) });
    return { returned, checked, watched, subscribes, reads: chatReadsOf(watched.reads) };
  } finally {
    await crowd.stop();
    await server.stop();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** A crowd that loses its connections and comes back all at once, under traffic. */
export async function rows(): Promise<Row[]> {
  const result: Row[] = [];
  for (const layout of [groups, hall]) {
    result.push(...rowsOf(layout.name, await measure(layout, false), { atMost: 0.01 }));
  }
  result.push(...rowsOf(`${groups.name}, the server killed`, await measure(groups, true), { atMost: 1 }));
  return result;
}

function rowsOf(name: string, outcome: Outcome, readsFloor: { atMost: number }): Row[] {
  const { returned, checked, reads, subscribes, watched } = outcome;
  const who = `${sockets.toLocaleString('en')} sockets reconnecting at once (${name})`;
  const { seconds, p50Ms, p99Ms, retries, lastFailure, unrecovered } = returned;
  const again = retries === 0 ? 'nobody tried twice' : `${retries} attempts more (${lastFailure.slice(0, 120)})`;
  return [
    {
      question: `${who}: all back, in s`,
      floor: { atMost: 30 },
      ratio: seconds,
      // The first of them is what the guide reckons with: the groups.
      figures: { returned: sockets, returnCpuMs: (watched.cpuSeconds * 1000) / sockets },
      detail: `p50 ${(p50Ms / 1000).toFixed(1)} s, p99 ${(p99Ms / 1000).toFixed(1)} s, ${again}, CPU ${watched.cpuSeconds.toFixed(1)} s`,
    },
    {
      question: `${who}: changes missed or heard twice`,
      floor: { atMost: 0 },
      ratio: checked.missed + checked.repeated,
      detail: `${checked.missed} missed, ${checked.repeated} twice, ${unrecovered} gaps not closed by the server`,
    },
    {
      question: `${who}: database reads a socket`,
      floor: readsFloor,
      ratio: reads / sockets,
      detail: `${reads} reads of projects, conversations, members and messages meanwhile`,
    },
    {
      question: `${who}: SUBSCRIBEs a socket`,
      floor: { atMost: 0.1 },
      ratio: subscribes / sockets,
      detail: `${subscribes} commands to Redis`,
    },
  ];
}
