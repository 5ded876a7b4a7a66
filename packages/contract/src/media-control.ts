import type {
  MediaErrorCode,
  MediaEventFrame,
  MediaEventName,
  MediaEvents,
  MediaHello,
  MediaResponses,
} from './media-node-frames.ts';
import type { MediaCommandName, MediaRequests, MediaTrackRequest } from './media-requests.ts';
import type { ConnectionQuality } from './rooms/enums.ts';

// Types only: a media process, which never parses a frame, need not load the schemas.
export type {
  MediaErrorCode,
  MediaEventFrame,
  MediaEventName,
  MediaEvents,
  MediaLayer,
  MediaParticipantSnapshot,
  MediaResponses,
  MediaRoomSnapshot,
  MediaSubscribeResult,
  MediaTrack,
  MediaTransportState,
  MediaTransportStats,
} from './media-node-frames.ts';
export type {
  DataFallback,
  MediaCloseReason,
  MediaCommand,
  MediaCommandFrame,
  MediaCommandName,
  MediaNodePipes,
  MediaPermissions,
  MediaRequests,
  MediaTrackChoice,
  MediaTrackRequest,
  MediaTrackSettings,
} from './media-requests.ts';

/**
 * The server-to-server channel between the control plane and a media node (docs/media-control.md): a WebSocket at
 * `{internalUrl}/control`. The control plane sends commands, the node answers each and sends events.
 */
export const MEDIA_CONTROL_PATH = '/control';
/** A TURN connection that a server has accepted goes to the node by an upgrade of its control port. */
export const MEDIA_TURN_PATH = '/turn';
export const MEDIA_TURN_UPGRADE = 'parley-turn';

/** Versions of the protocol, from the oldest that is still spoken to the newest. */
export interface MediaProtocols {
  oldest: number;
  newest: number;
}

/**
 * What this code speaks. A new version keeps the one before it: in a rolling update servers and nodes of two versions
 * meet, in either order.
 */
export const mediaProtocols: MediaProtocols = { oldest: 1, newest: 1 };

/** The newest version that both speak; null when there is none. */
export function commonMediaProtocol(ours: MediaProtocols, theirs: MediaProtocols): number | null {
  const common = Math.min(ours.newest, theirs.newest);
  return common >= Math.max(ours.oldest, theirs.oldest) ? common : null;
}

export const writeMediaProtocols = ({ oldest, newest }: MediaProtocols): string => `${oldest}-${newest}`;

/** `1-2`; left out by those who knew no other than 1. Null when it is none. */
export function readMediaProtocols(text: string | null): MediaProtocols | null {
  const [, oldest, newest] = /^(\d{1,4})-(\d{1,4})$/.exec(text ?? '1-1') ?? [];
  return oldest === undefined || newest === undefined ? null : { oldest: Number(oldest), newest: Number(newest) };
}
/** A description in `sub.offer` is split so that the signaling frame around it stays under 16384 bytes. */
export const MEDIA_DESCRIPTION_BYTES_MAX = 14_000;

export type MediaTrackKind = MediaTrackRequest['kind'];
/** `pub`: the client offers and sends media. `sub`: the node offers, sends media, and carries data both ways. */
export type MediaTransport = 'pub' | 'sub';
export type MediaQuality = ConnectionQuality;

/** Addresses a participant: a room id and a session id (`ps_…`), both made by the control plane. */
export type MediaAddress = Pick<MediaRequests['participant.attach'], 'room' | 'participant'>;

/** Name → what goes and what comes back: a request without a response does not compile. */
export type MediaCommands = {
  [Name in MediaCommandName]: { request: MediaRequests[Name]; response: MediaResponses[Name] };
};

/**
 * `owner`: only the controller that owns the participant. `room`: every controller that opened the room or owns a
 * participant in it.
 */
export const mediaEventAudience: Record<MediaEventName, 'owner' | 'room'> = {
  'sub.offer': 'owner',
  'transport.state': 'owner',
  'stream.state': 'owner',
  'stream.states': 'owner',
  'publish.quality': 'owner',
  'track.samples': 'owner',
  data: 'owner',
  'participant.closed': 'room',
  'participant.state': 'room',
  'track.published': 'room',
  'track.started': 'room',
  'track.unpublished': 'room',
  'track.muted': 'room',
  speakers: 'room',
  quality: 'room',
  'room.closed': 'room',
  'node.silent': 'room',
};

/** An event without its number on the wire; the union of all, or the one of a name. */
export type MediaEvent<Name extends MediaEventName = MediaEventName> = {
  [N in Name]: { type: N; data: MediaEvents[N] };
}[Name];

export interface MediaHelloFrame {
  type: 'hello';
  data: MediaHello;
}

export type MediaResponseFrame =
  | { ref: number; data: MediaResponses[MediaCommandName] }
  | { ref: number; error: { code: MediaErrorCode; message: string } };

export type MediaNodeFrame = MediaHelloFrame | MediaResponseFrame | MediaEventFrame;
