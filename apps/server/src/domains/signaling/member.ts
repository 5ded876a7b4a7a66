import type { FrameFields, SignalingServerFrames } from '@parley/contract';
import type { MediaAddress, MediaTrack } from '@parley/contract/media-control';
import type { StoredSession } from '../rooms/index.ts';
import type { RtcConnection } from './rtc-session.ts';

/** A participant whose socket is, or was a moment ago, at this process. */
export interface Member {
  session: StoredSession;
  /** The node that carries their media. */
  serverName: string;
  readonly address: MediaAddress;
  /** Null while the socket is lost and the place is kept. */
  connection: RtcConnection | null;
  /** Sends that wait until `joined` was sent; null once it was. */
  backlog: (() => void)[] | null;
  /** Their published tracks as last told by the node. */
  readonly tracks: Map<string, MediaTrack>;
  /** What they do is recorded in the order they did it. */
  recording: Promise<void>;
}

export const createMember = (session: StoredSession, serverName: string, connection: RtcConnection): Member => ({
  session,
  serverName,
  address: { room: session.roomId, participant: session.id },
  connection,
  backlog: [],
  tracks: new Map(),
  recording: Promise.resolve(),
});

/** Sends a frame to one participant, or queues it until `joined` was sent. */
export function tell<K extends keyof SignalingServerFrames>(
  member: Member,
  type: K,
  fields: FrameFields<SignalingServerFrames[K]>,
): void {
  if (member.backlog) member.backlog.push(() => tell(member, type, fields));
  else member.connection?.send(type, fields);
}
