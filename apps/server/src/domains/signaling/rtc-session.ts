import type { SignalingServerFrames } from '@parley/contract';
import type { Connection, SocketSession } from '../../core/socket.ts';
import type { StoredToken } from '../rooms/index.ts';
import type { Member } from './member.ts';

/** Who is behind a signaling connection: a token, and a seat once the join succeeded. */
export interface RtcSession extends SocketSession {
  token: StoredToken;
  /** The same object for the life of the connection, also when the token is refreshed. */
  seat: Seat;
}

export type RtcConnection = Connection<RtcSession, SignalingServerFrames>;

export interface Seat {
  state: { is: 'empty' } | { is: 'joining' } | { is: 'taken'; member: Member } | { is: 'left' };
}
