import { type AccountSession, fail } from '@parley/contract';
import { maskedAddress } from '../../core/addresses.ts';
import type { SessionCaller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import { isUuid } from '../../core/uuid.ts';
import { deviceName, placeName } from './device-name.ts';
import type { Origin, SecurityLog } from './security-log.ts';
import { endSessionOf, endSessionsOf, listSessionsOf, updateSessionSeen } from './session-store.ts';

interface OwnSessionsDeps {
  db: Db;
  clock: Clock;
  securityLog: SecurityLog;
  announceEnd: (sessionIds: readonly string[]) => void;
}

const listedMax = 100;
const userAgentMax = 256;

/** Where a person is signed in, for that person. */
export function createOwnSessions({ db, clock, securityLog, announceEnd }: OwnSessionsDeps) {
  const now = (): string => iso(clock.now());
  return {
    /** Where a session was last used: what its owner knows it by. */
    noteSeen: (sessionId: string, { ip, userAgent }: { ip: string; userAgent: string | null }): Promise<void> =>
      updateSessionSeen(db, sessionId, {
        ip: maskedAddress(ip),
        userAgent: userAgent?.slice(0, userAgentMax) ?? null,
        at: now(),
      }),

    async list({ userId, sessionId }: SessionCaller): Promise<AccountSession[]> {
      const found = await listSessionsOf(db, userId, now(), listedMax);
      return found.map((session) => ({
        ...session,
        device: deviceName(session.userAgent),
        place: placeName(session.ip),
        current: session.id === sessionId,
      }));
    },

    async endOne({ userId, email }: SessionCaller, sessionId: string, from: Origin): Promise<void> {
      if (!isUuid(sessionId) || !(await endSessionOf(db, userId, sessionId, now()))) fail('SVC_SESSION_NOT_FOUND');
      announceEnd([sessionId]);
      await securityLog('account.session_ended', { id: userId, email }, from, { sessionId });
    },

    async endEverywhere({ userId, email }: SessionCaller, from: Origin): Promise<void> {
      const ended = await db.transaction((tx) => endSessionsOf(tx, userId, { reason: 'LOGOUT', at: now() }));
      announceEnd(ended);
      await securityLog('account.sessions_ended', { id: userId, email }, from, { sessionsEnded: ended.length });
    },
  };
}
