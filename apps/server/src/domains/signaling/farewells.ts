import type { CloseCode, DisconnectReason } from '@parley/contract';
import { type Member, tell } from './member.ts';

/** What a client is told before its socket is closed, and with which code. */
interface Farewell {
  code: CloseCode;
  says: 'RESUME' | 'RECONNECT' | 'DISCONNECT' | 'room.closed';
}

const farewells: Readonly<Record<DisconnectReason, Farewell>> = {
  CLIENT_INITIATED: { code: 1000, says: 'DISCONNECT' },
  DUPLICATE_IDENTITY: { code: 4409, says: 'DISCONNECT' },
  PARTICIPANT_REMOVED: { code: 4410, says: 'DISCONNECT' },
  TOKEN_REVOKED: { code: 4410, says: 'DISCONNECT' },
  TOKEN_EXPIRED: { code: 4401, says: 'DISCONNECT' },
  ROOM_CLOSED: { code: 4410, says: 'room.closed' },
  STREAM_ENDED: { code: 4410, says: 'room.closed' },
  SERVER_SHUTDOWN: { code: 4503, says: 'RESUME' },
  NODE_DRAINED: { code: 4503, says: 'RECONNECT' },
  CONNECTION_TIMEOUT: { code: 4408, says: 'RECONNECT' },
  SIGNAL_CLOSED: { code: 4408, says: 'RECONNECT' },
  MEDIA_FAILURE: { code: 4503, says: 'RECONNECT' },
  JOIN_FAILURE: { code: 4503, says: 'RECONNECT' },
  RATE_LIMITED: { code: 4429, says: 'RECONNECT' },
  UNKNOWN: { code: 4500, says: 'RECONNECT' },
};

/** Clients of one node come back one after the other, not all at once. */
const spreadMs = 2_000;

/** Says why, and closes. The session is over already. */
export function bidFarewell(member: Member, reason: DisconnectReason, random: () => number): void {
  const { code, says } = farewells[reason];
  const { connection } = member;
  if (!connection) return;
  if (says === 'room.closed') tell(member, says, { reason });
  else
    tell(member, 'reconnect', {
      action: says,
      reason,
      afterMs: says === 'DISCONNECT' ? 0 : Math.floor(random() * spreadMs),
    });
  connection.close(code, reason);
}
