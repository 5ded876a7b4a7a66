import type { Clock } from '../../core/clock.ts';
import { iso } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { RtcTokens } from '../rooms/index.ts';
import type { Member } from './member.ts';

interface TokenRefreshDeps {
  clock: Clock;
  log: Log;
  tokens: Pick<RtcTokens, 'refresh'>;
}

const beforeMsMax = 60_000;

/** A ten-minute token survives an hour-long call: while connected, a fresh one is given before it ends. */
export function createTokenRefresh({ clock, log, tokens }: TokenRefreshDeps) {
  const refreshing = new Set<Member>();

  return async (member: Member): Promise<void> => {
    const { connection } = member;
    if (!connection?.isOpen || member.backlog || refreshing.has(member)) return;
    const { session } = connection;
    const beforeMs = Math.min(beforeMsMax, session.token.ttlSeconds * 500);
    if (session.expiresAt - clock.now() > beforeMs) return;
    refreshing.add(member);
    try {
      const fresh = await tokens.refresh(session.token);
      // Null: it was revoked, and the session ends by that; or it is not renewed, and the session ends with it.
      if (!fresh) return;
      const token = { ...session.token, expiresAt: iso(fresh.expiresAt) };
      connection.renew({ ...session, token, expiresAt: fresh.expiresAt });
      connection.send('token.refresh', { token: fresh.token, expiresAt: iso(fresh.expiresAt) });
    } catch (error) {
      log.warn({ error, sessionId: member.session.id }, 'token not refreshed yet');
    } finally {
      refreshing.delete(member);
    }
  };
}
