import type { MediaAddress, MediaTrack } from '@parley/contract/media-control';
import type { Connection } from '../../core/socket.ts';
import type { StoredSession } from '../rooms/index.ts';
import type { RtcSession } from './rtc-session.ts';

/** A participant whose socket is, or was a moment ago, at this process. */
export interface Member {
  session: StoredSession;
  /** The node that carries their media. */
  serverName: string;
  readonly address: MediaAddress;
  /** Null while the socket is lost and the place is kept. */
  connection: Connection<RtcSession> | null;
  /** Frames that came before `joined` was sent; null once it was. */
  backlog: { type: string; fields: object }[] | null;
  /** Their published tracks as last told by the node. */
  readonly tracks: Map<string, MediaTrack>;
  /** What they do is recorded in the order they did it. */
  recording: Promise<void>;
}

export const createMember = (
  session: StoredSession,
  serverName: string,
  connection: Connection<RtcSession>,
): Member => ({
  session,
  serverName,
  address: { room: session.roomId, participant: session.id },
  connection,
  backlog: [],
  tracks: new Map(),
  recording: Promise.resolve(),
});

/** Sends a frame to one participant, or keeps it until they have been told that they are in. */
export function tell(member: Member, type: string, fields: object): void {
  if (member.backlog) member.backlog.push({ type, fields });
  else member.connection?.send(type, fields);
}
