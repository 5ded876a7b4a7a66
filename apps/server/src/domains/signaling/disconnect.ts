import type { CloseCode, DisconnectReason } from '@parley/contract';
import { type Member, sendTo } from './member.ts';

/** The last frame a client gets before its socket is closed, and the close code. */
interface Disconnect {
  code: CloseCode;
  action: 'RESUME' | 'RECONNECT' | 'DISCONNECT' | 'room.closed';
}

const disconnects: Readonly<Record<DisconnectReason, Disconnect>> = {
  CLIENT_INITIATED: { code: 1000, action: 'DISCONNECT' },
  DUPLICATE_IDENTITY: { code: 4409, action: 'DISCONNECT' },
  PARTICIPANT_REMOVED: { code: 4410, action: 'DISCONNECT' },
  TOKEN_REVOKED: { code: 4410, action: 'DISCONNECT' },
  TOKEN_EXPIRED: { code: 4401, action: 'DISCONNECT' },
  ROOM_CLOSED: { code: 4410, action: 'room.closed' },
  STREAM_ENDED: { code: 4410, action: 'room.closed' },
  SERVER_SHUTDOWN: { code: 4503, action: 'RESUME' },
  NODE_DRAINED: { code: 4503, action: 'RECONNECT' },
  CONNECTION_TIMEOUT: { code: 4408, action: 'RECONNECT' },
  SIGNAL_CLOSED: { code: 4408, action: 'RECONNECT' },
  MEDIA_FAILURE: { code: 4503, action: 'RECONNECT' },
  JOIN_FAILURE: { code: 4503, action: 'RECONNECT' },
  RATE_LIMITED: { code: 4429, action: 'RECONNECT' },
  UNKNOWN: { code: 4500, action: 'RECONNECT' },
};

/** Clients of one node come back one after the other, not all at once. */
const spreadMs = 2_000;

/** Sends the reason and closes. The session is over already. */
export function disconnect(member: Member, reason: DisconnectReason, random: () => number): void {
  const { code, action } = disconnects[reason];
  const { connection } = member;
  if (!connection) return;
  if (action === 'room.closed') sendTo(member, action, { reason });
  else
    sendTo(member, 'reconnect', {
      action,
      reason,
      afterMs: action === 'DISCONNECT' ? 0 : Math.floor(random() * spreadMs),
    });
  connection.close(code, reason);
}
