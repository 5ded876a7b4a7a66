import type { Description } from '@parley/media-description';

/**
 * The server-to-server channel between the control plane and a media node (docs/media-control.md): a WebSocket at
 * `{internalUrl}/control`. The control plane sends commands, the node answers each and sends events.
 */
export const MEDIA_CONTROL_PROTOCOL = 1;
export const MEDIA_CONTROL_PATH = '/control';
/** A description in `sub.offer` is split so that the signaling frame around it stays under 16384 bytes. */
export const MEDIA_DESCRIPTION_BYTES_MAX = 14_000;
/** Largest payload of `data.send`; data channels themselves carry up to `DATA_MESSAGE_BYTES_MAX`. */
export const MEDIA_CONTROL_DATA_BYTES_MAX = 8192;

/** What the RTC token allows (specification 2, contract S14 and S15). */
export interface MediaPermissions {
  join: boolean;
  subscribe: boolean;
  publish: boolean;
  publishAudio: boolean;
  publishVideo: boolean;
  /** Both directions of data. */
  publishData: boolean;
}

export type MediaTrackKind = 'AUDIO' | 'VIDEO';
export type MediaTrackSource = 'CAMERA' | 'MICROPHONE' | 'SCREEN_SHARE' | 'SCREEN_SHARE_AUDIO' | 'UNKNOWN';
/** `pub`: the client offers and sends media. `sub`: the node offers, sends media, and carries data both ways. */
export type MediaTransport = 'pub' | 'sub';
export type MediaTransportState = 'NEW' | 'CONNECTING' | 'CONNECTED' | 'DISCONNECTED' | 'FAILED' | 'CLOSED';
export type MediaQuality = 'EXCELLENT' | 'GOOD' | 'POOR' | 'LOST';

/** Why a participant or a room ended, in the words of the contract's DisconnectReason. */
export type MediaCloseReason =
  | 'CLIENT_INITIATED'
  | 'DUPLICATE_IDENTITY'
  | 'PARTICIPANT_REMOVED'
  | 'TOKEN_REVOKED'
  | 'TOKEN_EXPIRED'
  | 'ROOM_CLOSED'
  | 'STREAM_ENDED'
  | 'SERVER_SHUTDOWN'
  | 'NODE_DRAINED'
  | 'CONNECTION_TIMEOUT'
  | 'SIGNAL_CLOSED'
  | 'MEDIA_FAILURE'
  | 'JOIN_FAILURE'
  | 'RATE_LIMITED'
  | 'UNKNOWN';

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

/** What a client says of a track that it wants to publish; `cid` is also `trackId` of its entry in the description. */
export interface MediaTrackRequest {
  cid: string;
  kind: MediaTrackKind;
  source: MediaTrackSource;
  name?: string;
  muted?: boolean;
  /** Size and target bit rate of each simulcast layer, lowest first. */
  layers?: { rid: string; width?: number; height?: number; bitrate?: number }[];
}

export interface MediaTrackSettings {
  trackId: string;
  /** False: keep the subscription, send nothing. */
  enabled?: boolean;
  /** Size of the element that shows the track, in device pixels. */
  width?: number;
  height?: number;
  /**
   * Frames a second at most: frames of higher temporal layers (VP8, VP9, AV1) or that no other needs (H264) are left
   * out. A stream without such frames comes whole.
   */
  fps?: number;
  /** Highest layer wanted: 0 is the lowest. */
  maxLayer?: number;
  /** 0-255, higher is served first when bandwidth is short. Default 100; screen shares 200. */
  priority?: number;
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
export interface MediaAddress {
  room: string;
  participant: string;
}

interface Command<Request, Response> {
  request: Request;
  response: Response;
}

/** Name → what goes and what comes back. Every command is answered exactly once. */
export interface MediaCommands {
  /** Idempotent. A room that stays without participants closes by itself after `emptyTimeoutSeconds` (default 60). */
  'room.open': Command<{ room: string; emptyTimeoutSeconds?: number }, { created: boolean }>;
  /** Removes everybody. Idempotent. */
  'room.close': Command<{ room: string; reason: MediaCloseReason }, { closed: boolean }>;
  /**
   * Idempotent for one session id. The connection that adds a participant owns it: participant events go there.
   * With `autoSubscribe` the node offers all tracks in `sub.offer` at once. Another session of the same identity in the
   * room is closed with DUPLICATE_IDENTITY; `order` says which of two is the newer one, and an older is refused with STALE.
   */
  'participant.add': Command<
    MediaAddress & {
      identity: string;
      order?: number;
      permissions: MediaPermissions;
      autoSubscribe: boolean;
      adaptiveStream?: boolean;
    },
    { participant: MediaParticipantSnapshot; participants: MediaParticipantSnapshot[] }
  >;
  /** Takes over a participant after its signaling socket moved to another process; a pending `sub.offer` is repeated. */
  'participant.attach': Command<MediaAddress, { participant: MediaParticipantSnapshot }>;
  /** Idempotent. */
  'participant.remove': Command<MediaAddress & { reason: MediaCloseReason }, { removed: boolean }>;
  /** Tracks, subscriptions and data that the new permissions forbid end at once. */
  'participant.update': Command<MediaAddress & { permissions: MediaPermissions }, Record<string, never>>;
  /**
   * Publishes. The first offer is whole, later ones carry changed entries only. All or nothing: one forbidden track
   * refuses the call with FORBIDDEN.
   */
  'pub.offer': Command<
    MediaAddress & { tracks: MediaTrackRequest[]; description: Description },
    { tracks: { cid: string; trackId: string }[]; description: Description }
  >;
  'pub.unpublish': Command<MediaAddress & { trackIds: string[] }, { description: Description }>;
  /** `revision` must be that of the latest `sub.offer`, else STALE. */
  'sub.answer': Command<MediaAddress & { revision: number; description: Description }, Record<string, never>>;
  /**
   * For a client that offers what it wants to receive (WHEP): its lines are all there will be, tracks of the room take
   * them in turn, and nothing is negotiated again. No `sub.offer` counts from then on.
   */
  'sub.accept': Command<MediaAddress & { description: Description }, { description: Description }>;
  /** Accepted and not needed: the node learns the client's address from its connectivity checks. */
  ice: Command<MediaAddress & { pc: MediaTransport; candidates: string[]; final?: boolean }, Record<string, never>>;
  /**
   * Rebuilds a transport. The client makes a new RTCPeerConnection. `pub`: `description` is its whole offer, existing
   * tracks named by their track id; the answer comes back. `sub`: no description; a whole `sub.offer` with
   * `restart: true` follows.
   */
  'ice.restart': Command<
    MediaAddress & { pc: MediaTransport; description?: Description },
    { description: Description | null }
  >;
  /** `by: "SERVER"` also stops forwarding whatever the client sends, until the server unmutes. */
  'track.mute': Command<
    MediaAddress & { trackId: string; muted: boolean; by: 'PUBLISHER' | 'SERVER' },
    { changed: boolean }
  >;
  'track.settings': Command<MediaAddress & { updates: MediaTrackSettings[] }, Record<string, never>>;
  subscribe: Command<MediaAddress & MediaTrackChoice, MediaSubscribeResult>;
  unsubscribe: Command<MediaAddress & MediaTrackChoice, MediaSubscribeResult>;
  /**
   * Sends data to a room. `participant` is the sender and must hold `publishData`; without it the control plane itself
   * speaks (`from` is then null for receivers). Receivers without an open data channel get it as a `data` event.
   */
  'data.send': Command<
    {
      room: string;
      participant?: string;
      topic?: string;
      payload: string;
      encoding?: 'utf8' | 'base64';
      /** Identities; omitted: everybody else in the room. */
      to?: string[];
      reliable: boolean;
    },
    { delivered: number }
  >;
  /** Everything the node holds, or one room. Ask for it after `hello` with `resumed: false`. */
  snapshot: Command<{ room?: string }, { rooms: MediaRoomSnapshot[]; seq: number }>;
  stats: Command<
    { room: string; participant?: string },
    {
      participants: {
        participant: string;
        identity: string;
        pub: MediaTransportStats | null;
        sub: MediaTransportStats | null;
      }[];
    }
  >;
  ping: Command<Record<string, never>, { at: string }>;
}

export interface MediaTrackChoice {
  trackIds?: string[];
  identities?: string[];
}

export interface MediaSubscribeResult {
  accepted: string[];
  refused: { id: string; code: 'FORBIDDEN' | 'NOT_FOUND' }[];
}

/** Name → data. Events marked (room) go to every connection with a participant in the room, the others to the owner. */
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
  /** To the publisher: layers nobody takes may be turned off. */
  'publish.quality': MediaAddress & { trackId: string; layers: { rid: string; enabled: boolean }[] };
  /** For a receiver that has no open data channel. */
  data: MediaAddress & {
    from: string | null;
    topic: string | null;
    payload: string;
    encoding: 'utf8' | 'base64';
    at: string;
  };
  /** The node ended this participant by itself or on command; nothing more comes for it. (room) */
  'participant.closed': MediaAddress & { identity: string; reason: MediaCloseReason };
  /** JOINED once a transport connects, ACTIVE once media or data flows. (room) */
  'participant.state': MediaAddress & { identity: string; state: 'JOINED' | 'ACTIVE' };
  /** (room) */
  'track.published': MediaAddress & { identity: string; track: MediaTrack };
  /** The first packet came; `track` says what it really is. (room) */
  'track.started': MediaAddress & { identity: string; track: MediaTrack };
  /** (room) */
  'track.unpublished': MediaAddress & { identity: string; trackId: string };
  /** (room) */
  'track.muted': MediaAddress & { identity: string; trackId: string; muted: boolean; by: 'PUBLISHER' | 'SERVER' };
  /** On change, at most every 500 ms. (room) */
  speakers: { room: string; speakers: { identity: string; level: number; active: boolean }[] };
  /** On change, at most every 5 s. (room) */
  quality: { room: string; updates: { identity: string; quality: MediaQuality; score: number }[] };
  /** (room) */
  'room.closed': { room: string; reason: MediaCloseReason };
}

export type MediaCommandName = keyof MediaCommands;
export type MediaEventName = keyof MediaEvents;

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

export type MediaCommandFrame = {
  [Name in MediaCommandName]: { id: number; type: Name; data: MediaCommands[Name]['request'] };
}[MediaCommandName];

export type MediaEventFrame = {
  [Name in MediaEventName]: { seq: number; type: Name; data: MediaEvents[Name] };
}[MediaEventName];

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
  | { ref: number; data: MediaCommands[MediaCommandName]['response'] }
  | { ref: number; error: { code: MediaErrorCode; message: string } };

export type MediaNodeFrame = MediaHelloFrame | MediaResponseFrame | MediaEventFrame;
