import { fail, isServiceError, type SecurityAction, type Session } from '@parley/contract';
import { type Cache, createCache } from '../../core/cache.ts';
import type { SessionCaller, SessionProof } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db, Tx } from '../../core/db.ts';
import type { Ids } from '../../core/ids.ts';
import type { Keyring } from '../../core/keyring.ts';
import type { Log } from '../../core/log.ts';
import type { Bus, Unsubscribe } from '../../core/ports.ts';
import type { Tokens } from '../../core/tokens.ts';
import { deleteChallengesOf } from './factors/challenge-store.ts';
import { createOwnSessions } from './own-sessions.ts';
import { createRefreshTokens, type RefreshToken } from './refresh-tokens.ts';
import type { Origin, SecurityLog } from './security-log.ts';
import {
  type EndReason,
  endSession,
  endSessionsOf,
  findLiveSession,
  findSessionUser,
  insertSession,
  rotateSession,
  type SessionRow,
  updateSessionProof,
} from './session-store.ts';
import type { UserRow } from './user-store.ts';
import type { Users } from './users.ts';

/** A session as it goes to the browser: what the page may read, and what only the cookie carries. */
export interface OpenSession {
  session: Session;
  refreshToken: string;
  sessionId: string;
}

interface SessionsDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  keyring: Keyring;
  tokens: Tokens;
  bus: Bus;
  log: Log;
  users: Users;
  securityLog: SecurityLog;
  refreshGraceSeconds: number;
}

export type Sessions = ReturnType<typeof createSessions>;

export const refreshTtlSeconds = 30 * 24 * 60 * 60;
const accessTtlSeconds = 15 * 60;
/** The net under the bus: a process that missed the message believes an ended session for this long. */
const cacheMs = 1_000;
const cacheSizeMax = 10_000;
const topic = 'accounts/sessions';

export function createSessions(deps: SessionsDeps) {
  const { db, clock, ids, tokens, bus, log, users, securityLog } = deps;
  const refreshTokens = createRefreshTokens(deps.keyring);
  const graceMs = deps.refreshGraceSeconds * 1000;
  const live: Cache<(UserRow & SessionProof) | undefined> = createCache({
    clock,
    ttlMs: cacheMs,
    sizeMax: cacheSizeMax,
  });
  const subscriptions: Unsubscribe[] = [];

  const now = (): string => iso(clock.now());
  const expiry = (): string => iso(clock.now() + refreshTtlSeconds * 1000);

  function issue(user: UserRow, token: RefreshToken): OpenSession {
    const access = tokens.sign('session', { sub: user.id, jti: ids.newUuid(), sid: token.sessionId }, accessTtlSeconds);
    return {
      session: {
        accessToken: access.token,
        tokenType: 'Bearer',
        expiresIn: access.expiresIn,
        user: users.present(user),
      },
      refreshToken: refreshTokens.write(token),
      sessionId: token.sessionId,
    };
  }

  async function open(tx: Tx, user: UserRow, { isByFactor = false } = {}): Promise<OpenSession> {
    const sessionId = ids.newUuid();
    const [createdAt, expiresAt] = [now(), expiry()];
    const factorAt = isByFactor ? createdAt : null;
    await insertSession(tx, { id: sessionId, userId: user.id, createdAt, expiresAt, factorAt });
    return issue(user, { sessionId, generation: 1 });
  }

  async function refresh(text: string | undefined, from: Origin): Promise<OpenSession> {
    const given = refreshTokens.read(text ?? '') ?? fail('SVC_SESSION_EXPIRED');
    const turn = { id: given.sessionId, generation: given.generation, now: now(), expiresAt: expiry() };
    const rotated = await rotateSession(db, { ...turn, graceSince: iso(clock.now() - graceMs) });
    const generation = rotated ?? (await supersededBy(given, from));
    const user = (await findSessionUser(db, given.sessionId, now())) ?? fail('SVC_SESSION_EXPIRED');
    return issue(user, { sessionId: given.sessionId, generation });
  }

  /** The newest generation, for a tab that lost a race for it. Anything older was stolen: the whole family ends. */
  async function supersededBy(given: RefreshToken, from: Origin): Promise<number> {
    const session = (await findLiveSession(db, given.sessionId, now())) ?? fail('SVC_SESSION_EXPIRED');
    if (isInGrace(session, given)) return session.generation;
    await end(session.id, 'TOKEN_REUSED', 'account.refresh_token_reused', from);
    log.warn({ sessionId: session.id, userId: session.userId }, 'a refresh token was used twice; its session ended');
    return fail('SVC_SESSION_EXPIRED');
  }

  function isInGrace(session: SessionRow, { generation }: RefreshToken): boolean {
    if (session.graceStartedAt === null || generation < session.graceGeneration) return false;
    return Date.parse(session.graceStartedAt) > clock.now() - graceMs;
  }

  async function end(sessionId: string, reason: EndReason, action: SecurityAction, from: Origin): Promise<void> {
    const owner = await endSession(db, sessionId, reason, now());
    announceEnd([sessionId]);
    if (owner) await securityLog(action, owner, from, { sessionId });
  }

  /** Ends the session of either token; a refresh token counts whichever generation it is of. */
  async function logout(
    refreshToken: string | undefined,
    accessToken: string | undefined,
    from: Origin,
  ): Promise<void> {
    const sessionIds = [refreshTokens.read(refreshToken ?? '')?.sessionId, sessionOf(accessToken ?? '')];
    for (const id of new Set(sessionIds)) if (id !== undefined) await end(id, 'LOGOUT', 'account.signed_out', from);
  }

  function sessionOf(accessToken: string): string | undefined {
    try {
      const { sid } = tokens.verify('session', accessToken);
      return typeof sid === 'string' ? sid : undefined;
    } catch (error) {
      if (isServiceError(error)) return undefined;
      throw error;
    }
  }

  function announceEnd(sessionIds: readonly string[]): void {
    if (sessionIds.length > 0) bus.publish(topic, { ended: sessionIds });
  }

  const noteProof = (tx: Tx, sessionId: string, { isByFactor }: { isByFactor: boolean }): Promise<void> =>
    updateSessionProof(tx, sessionId, { provenAt: now(), factorAt: isByFactor ? now() : null });

  /** The caller as the store has the session now. */
  async function reread(caller: SessionCaller): Promise<SessionCaller> {
    const found = (await findSessionUser(db, caller.sessionId, now())) ?? fail('SVC_SESSION_EXPIRED');
    return callerOf(found, caller.sessionId);
  }

  function callerOf(user: UserRow & SessionProof, sessionId: string): SessionCaller {
    const { id: userId, email, hasFactor, provenAt, factorAt } = user;
    const isOperator = users.isOperator(user);
    return { kind: 'session', userId, email, sessionId, isOperator, hasFactor, provenAt, factorAt };
  }

  /** Who a bearer token speaks for, as long as its session is on. */
  async function authenticate(token: string): Promise<SessionCaller> {
    const { sid } = tokens.verify('session', token);
    const sessionId = typeof sid === 'string' ? sid : fail('SVC_INVALID_TOKEN');
    const user = await live.get(sessionId, () => findSessionUser(db, sessionId, now()));
    return callerOf(user ?? fail('SVC_SESSION_EXPIRED'), sessionId);
  }

  return {
    open,
    refresh,
    authenticate,
    reread,
    noteProof,
    /** Every process forgets what it knew of these, ended or not. */
    forget: announceEnd,
    /** Ends every session of a user, but for one that is named, and sign-ins half way; call `announceEnd` after the commit. */
    async endAll(tx: Tx, userId: string, except?: string): Promise<string[]> {
      await deleteChallengesOf(tx, userId);
      return endSessionsOf(tx, userId, { reason: 'PASSWORD_CHANGED', at: now(), except });
    },
    announceEnd,
    logout,
    ...createOwnSessions({ db, clock, securityLog, announceEnd }),
    async start(): Promise<void> {
      subscriptions.push(await bus.subscribe(topic, (message) => endedIn(message).forEach(live.drop)));
      subscriptions.push(bus.onGap(() => live.dropWhere(() => true)));
    },
    stop(): void {
      for (const unsubscribe of subscriptions.splice(0)) unsubscribe();
    },
  };
}

/** Written by another process of ours, perhaps of another version. */
function endedIn(message: unknown): string[] {
  const ended = typeof message === 'object' && message !== null && 'ended' in message ? message.ended : null;
  return Array.isArray(ended) ? ended.filter((id) => typeof id === 'string') : [];
}
