import type { FrameFields, SignalingServerFrames } from '@parley/contract';
import type { MediaAddress, MediaTrack } from '@parley/contract/media-control';
import type { Connection, SocketSession } from '../../core/socket.ts';
import { grantOf, type StoredSession, type StoredToken } from '../rooms/index.ts';

/** Who is behind a signaling connection: a token, and a membership once the join succeeded. */
export interface RtcSession extends SocketSession {
  token: StoredToken;
  /** The same object for the life of the connection, also when the token is refreshed. */
  membership: Membership;
}

/** What a token opens: a connection that has not joined yet. */
export const newRtcSession = (token: StoredToken): RtcSession => ({
  ...grantOf(token),
  subject: token.id,
  expiresAt: Date.parse(token.expiresAt),
  token,
  membership: { state: { is: 'none' } },
});

export type RtcConnection = Connection<RtcSession, SignalingServerFrames>;

interface Membership {
  state: { is: 'none' } | { is: 'joining' } | { is: 'joined'; member: Member } | { is: 'left' };
}

export type QualityUpdate = FrameFields<SignalingServerFrames['quality']>['updates'][number];
type DataFrame = FrameFields<SignalingServerFrames['data']>;

/** Bytes of data kept for one lost socket: what a data channel queues for one. */
const heldBytesMax = 1 << 20;
/** More than may be held, as JSON, and what the room says meanwhile. */
const backlogBytesMax = 2 << 20;
/** A frame costs memory without any payload too. */
const frameOverheadBytes = 128;

/** A participant whose socket is, or was a moment ago, at this process. */
export interface Member {
  session: StoredSession;
  /** The node that carries their media. */
  serverName: string;
  readonly address: MediaAddress;
  /** Whether their client understands `roster` and `changes`. */
  readonly takesChanges: boolean;
  /** Null while the socket is lost and the place is kept. */
  connection: RtcConnection | null;
  /** Sends that wait until `joined` was sent; null once it was. */
  backlog: (() => void)[] | null;
  backlogBytes: number;
  /** By identity: changes of quality until `joined` was sent; only the last counts. */
  readonly heldQuality: Map<string, QualityUpdate>;
  /** Data for them while the socket is lost; they get it when they resume. */
  readonly heldData: DataFrame[];
  heldBytes: number;
  /** Their published tracks as last reported by the node. */
  readonly tracks: Map<string, MediaTrack>;
  /** The time that the node's samples of their tracks account for. */
  sampledUntil: number;
  /** What they do is recorded in the order they did it. */
  recording: Promise<void>;
}

export const createMember = (
  session: StoredSession,
  serverName: string,
  connection: RtcConnection,
  takesChanges = false,
): Member => ({
  session,
  serverName,
  takesChanges,
  address: { room: session.roomId, participant: session.id },
  connection,
  backlog: [],
  backlogBytes: 0,
  heldQuality: new Map(),
  heldData: [],
  heldBytes: 0,
  tracks: new Map(),
  sampledUntil: 0,
  recording: Promise.resolve(),
});

/** Sends a frame to one participant, or queues it until `joined` was sent. */
export function sendTo<K extends keyof SignalingServerFrames>(
  member: Member,
  type: K,
  fields: FrameFields<SignalingServerFrames[K]>,
): void {
  if (member.backlog) queue(member, member.backlog, fields, () => sendTo(member, type, fields));
  else member.connection?.send(type, fields);
}

/** A client for which too much has to wait is closed as any slow reader; nothing more is queued for it. */
function queue(member: Member, backlog: (() => void)[], fields: object, send: () => void): void {
  member.backlogBytes += Buffer.byteLength(JSON.stringify(fields)) + frameOverheadBytes;
  if (member.backlogBytes <= backlogBytesMax) backlog.push(send);
  else {
    backlog.length = 0;
    member.connection?.close(4408, 'SLOW_CONSUMER');
  }
}

/** Sends data, or keeps it for a participant who may resume. */
export function sendData(member: Member, frame: DataFrame): void {
  if (member.connection || member.backlog) {
    sendTo(member, 'data', frame);
    return;
  }
  const bytes = frame.payload.length + frameOverheadBytes;
  if (member.heldBytes + bytes > heldBytesMax) return;
  member.heldBytes += bytes;
  member.heldData.push(frame);
}

/** What this process knew of the participant whose socket was lost. */
export function takeOver(member: Member, former: Member): void {
  for (const [id, track] of former.tracks) member.tracks.set(id, track);
  for (const data of former.heldData) sendTo(member, 'data', data);
}
