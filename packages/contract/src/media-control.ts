import type { Description } from '@parley/media-description';
import type {
  MediaCloseReason,
  MediaCommandName,
  MediaPermissions,
  MediaRequests,
  MediaTrackRequest,
} from './media-requests.ts';

// Types only: a media process, which never parses a command, need not load the schemas.
export type {
  MediaCloseReason,
  MediaCommand,
  MediaCommandFrame,
  MediaCommandName,
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
export const MEDIA_CONTROL_PROTOCOL = 1;
export const MEDIA_CONTROL_PATH = '/control';
/** A description in `sub.offer` is split so that the signaling frame around it stays under 16384 bytes. */
export const MEDIA_DESCRIPTION_BYTES_MAX = 14_000;

export type MediaTrackKind = MediaTrackRequest['kind'];
export type MediaTrackSource = MediaTrackRequest['source'];
/** `pub`: the client offers and sends media. `sub`: the node offers, sends media, and carries data both ways. */
export type MediaTransport = 'pub' | 'sub';
export type MediaTransportState = 'NEW' | 'CONNECTING' | 'CONNECTED' | 'DISCONNECTED' | 'FAILED' | 'CLOSED';
export type MediaQuality = 'EXCELLENT' | 'GOOD' | 'POOR' | 'LOST';

export interface MediaLayer {
  /** Empty for a track without simulcast. */
  rid: string;
  width: number | null;
  height: number | null;
  /** Bits per second: declared by the publisher, then measured. */
  bitrate: number | null;
}

/** A published track as the node knows it; the fields of the contract's Track record. */
export interface MediaTrack {
  id: string;
  kind: MediaTrackKind;
  source: MediaTrackSource;
  name: string | null;
  muted: boolean;
  codec: string;
  width: number | null;
  height: number | null;
  simulcast: boolean;
  layers: MediaLayer[];
  /** ISO 8601. */
  publishedAt: string;
}

export interface MediaParticipantSnapshot {
  participant: string;
  identity: string;
  state: 'JOINING' | 'JOINED' | 'ACTIVE';
  permissions: MediaPermissions;
  joinedAt: string;
  quality: MediaQuality | null;
  transports: Record<MediaTransport, MediaTransportState | null>;
  tracks: MediaTrack[];
  /** Ids of the tracks this participant receives or is about to. */
  subscriptions: string[];
}

export interface MediaRoomSnapshot {
  room: string;
  openedAt: string;
  participants: MediaParticipantSnapshot[];
}

export interface MediaTransportStats {
  state: MediaTransportState;
  rttMs: number | null;
  packetLossPercent: number | null;
  jitterMs: number | null;
  inBps: number;
  outBps: number;
  /**
   * What the node believes can be sent to this participant (`sub`) or received from it (`pub`); null for a publisher
   * that estimates by itself.
   */
  availableBps: number | null;
}

/** Addresses a participant: a room id and a session id (`ps_…`), both made by the control plane. */
export type MediaAddress = MediaRequests['participant.attach'];

/** Name → what comes back. Every command is answered exactly once. */
export interface MediaResponses {
  'room.open': { created: boolean };
  'room.close': { closed: boolean };
  'participant.add': { participant: MediaParticipantSnapshot; participants: MediaParticipantSnapshot[] };
  'participant.attach': { participant: MediaParticipantSnapshot };
  'participant.remove': { removed: boolean };
  'participant.update': Record<string, never>;
  'pub.offer': { tracks: { cid: string; trackId: string }[]; description: Description };
  'pub.unpublish': { description: Description };
  'sub.answer': Record<string, never>;
  'sub.accept': { description: Description };
  ice: Record<string, never>;
  'ice.restart': { description: Description | null };
  'track.mute': { changed: boolean };
  'track.settings': Record<string, never>;
  subscribe: MediaSubscribeResult;
  unsubscribe: MediaSubscribeResult;
  'data.send': { delivered: number };
  snapshot: { rooms: MediaRoomSnapshot[]; seq: number };
  stats: {
    participants: {
      participant: string;
      identity: string;
      pub: MediaTransportStats | null;
      sub: MediaTransportStats | null;
    }[];
  };
  ping: { at: string };
}

/** Name → what goes and what comes back: a request without a response does not compile. */
export type MediaCommands = {
  [Name in MediaCommandName]: { request: MediaRequests[Name]; response: MediaResponses[Name] };
};

export interface MediaSubscribeResult {
  accepted: string[];
  refused: { id: string; code: 'FORBIDDEN' | 'NOT_FOUND' }[];
}

/** Name → data. `mediaEventAudience` says who hears which. */
export interface MediaEvents {
  /** The node's offer: the first is whole, later ones carry changed entries only. Answer with `sub.answer`. */
  'sub.offer': MediaAddress & { revision: number; restart: boolean; description: Description };
  'transport.state': MediaAddress & { pc: MediaTransport; state: MediaTransportState };
  /** What arrives of a track: PAUSED by bandwidth, by the subscriber's settings or because it is muted. */
  'stream.state': MediaAddress & {
    trackId: string;
    state: 'ACTIVE' | 'PAUSED';
    reason: 'BANDWIDTH' | 'SETTINGS' | 'MUTED' | null;
    /** Layer being sent, 0 the lowest; null while paused. */
    layer: number | null;
  };
  /** To the publisher: layers without a subscriber may be turned off. */
  'publish.quality': MediaAddress & { trackId: string; layers: { rid: string; enabled: boolean }[] };
  /** For a receiver that has no open data channel. */
  data: MediaAddress & {
    from: string | null;
    topic: string | null;
    payload: string;
    encoding: 'utf8' | 'base64';
    at: string;
  };
  /** The node ended this participant by itself or on command; nothing more comes for it. */
  'participant.closed': MediaAddress & { identity: string; reason: MediaCloseReason };
  /** JOINED once a transport connects, ACTIVE once media or data flows. */
  'participant.state': MediaAddress & { identity: string; state: 'JOINED' | 'ACTIVE' };
  'track.published': MediaAddress & { identity: string; track: MediaTrack };
  /** The first packet came; `track` says what it really is. */
  'track.started': MediaAddress & { identity: string; track: MediaTrack };
  'track.unpublished': MediaAddress & { identity: string; trackId: string };
  'track.muted': MediaAddress & { identity: string; trackId: string; muted: boolean; by: 'PUBLISHER' | 'SERVER' };
  /** On change, at most every 500 ms. */
  speakers: { room: string; speakers: { identity: string; level: number; active: boolean }[] };
  /** On change, at most every 5 s. */
  quality: { room: string; updates: { identity: string; quality: MediaQuality; score: number }[] };
  'room.closed': { room: string; reason: MediaCloseReason };
}

export type MediaEventName = keyof MediaEvents;

/**
 * `owner`: only the controller that owns the participant. `room`: every controller that opened the room or owns a
 * participant in it.
 */
export const mediaEventAudience: Record<MediaEventName, 'owner' | 'room'> = {
  'sub.offer': 'owner',
  'transport.state': 'owner',
  'stream.state': 'owner',
  'publish.quality': 'owner',
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
};

/** `BAD_DESCRIPTION`: not a description, or none of its codecs is one of ours. `FULL`: this node takes no more rooms. */
export type MediaErrorCode =
  | 'BAD_REQUEST'
  | 'BAD_DESCRIPTION'
  | 'NOT_FOUND'
  | 'FORBIDDEN'
  | 'STALE'
  | 'DRAINING'
  | 'FULL'
  | 'INTERNAL';

/** An event without its number on the wire; the union of all, or the one of a name. */
export type MediaEvent<Name extends MediaEventName = MediaEventName> = {
  [N in Name]: { type: N; data: MediaEvents[N] };
}[Name];

export type MediaEventFrame<Name extends MediaEventName = MediaEventName> = {
  [N in Name]: { seq: number; type: N; data: MediaEvents[N] };
}[Name];

export interface MediaHelloFrame {
  type: 'hello';
  data: {
    protocol: number;
    node: string;
    /** New at each start of the node: another value means that every room is gone. */
    instanceId: string;
    /** True: every event after `since` follows. False: ask for a `snapshot`. */
    resumed: boolean;
    /** Sequence of the latest event for this controller. */
    seq: number;
    draining: boolean;
  };
}

export type MediaResponseFrame =
  | { ref: number; data: MediaResponses[MediaCommandName] }
  | { ref: number; error: { code: MediaErrorCode; message: string } };

export type MediaNodeFrame = MediaHelloFrame | MediaResponseFrame | MediaEventFrame;
