import type { Description } from '@parley/media-description';
import { type Static, type TObject, Type } from 'typebox';
import { Compile, type Validator } from 'typebox/schema';
import { trackMetadataBytesMax } from './limits.ts';

/** Largest payload of `data.send`; data channels themselves carry up to `DATA_MESSAGE_BYTES_MAX`. */
export const MEDIA_CONTROL_DATA_BYTES_MAX = 8192;

const Text = Type.String({ minLength: 1, maxLength: 256 });
const Count = Type.Number({ minimum: 0, maximum: 1e9 });
const Transport = Type.Enum(['pub', 'sub']);
/** The node reads every field of it with `parseDescription`. */
const OpaqueDescription = Type.Unsafe<Description>(Type.Object({}));

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
/** Not checked: a node must also remove a participant for a reason that only newer servers know. */
export const CloseReason = Type.Unsafe<MediaCloseReason>(Text);

/** What the RTC token allows (specification 2, contract S14 and S15). */
export const Permissions = Type.Object({
  join: Type.Boolean(),
  subscribe: Type.Boolean(),
  publish: Type.Boolean(),
  publishAudio: Type.Boolean(),
  publishVideo: Type.Boolean(),
  /** Both directions of data. */
  publishData: Type.Boolean(),
});
export type MediaPermissions = Static<typeof Permissions>;

/** What a client says of a track that it wants to publish; `cid` is also `trackId` of its entry in the description. */
const TrackRequest = Type.Object({
  cid: Text,
  kind: Type.Enum(['AUDIO', 'VIDEO']),
  source: Type.Enum(['CAMERA', 'MICROPHONE', 'SCREEN_SHARE', 'SCREEN_SHARE_AUDIO', 'UNKNOWN']),
  name: Type.Optional(Text),
  metadata: Type.Optional(Type.String({ maxLength: trackMetadataBytesMax })),
  muted: Type.Optional(Type.Boolean()),
  /** The client can send it in this codec too, if somebody cannot decode the first one. */
  backupCodec: Type.Optional(Type.Enum(['VP8'])),
  /** No new track: the published one with this id in its backup codec. */
  backupOf: Type.Optional(Text),
  /** Size and target bit rate of each simulcast layer, lowest first. */
  layers: Type.Optional(
    Type.Array(
      Type.Object({
        rid: Type.String(),
        width: Type.Optional(Count),
        height: Type.Optional(Count),
        bitrate: Type.Optional(Count),
      }),
      { maxItems: 3 },
    ),
  ),
});
export type MediaTrackRequest = Static<typeof TrackRequest>;

const TrackSettings = Type.Object({
  trackId: Text,
  /** False: keep the subscription, send nothing. */
  enabled: Type.Optional(Type.Boolean()),
  /** Size of the element that shows the track, in device pixels. */
  width: Type.Optional(Count),
  height: Type.Optional(Count),
  /**
   * Frames a second at most: frames of higher temporal layers (VP8, VP9, AV1) or that no other frame refers to (H264)
   * are dropped. A stream without such frames comes whole.
   */
  fps: Type.Optional(Count),
  /** Highest layer wanted: 0 is the lowest. */
  maxLayer: Type.Optional(Count),
  /** 0-255, higher is served first when bandwidth is short. Default 100; screen shares 200. */
  priority: Type.Optional(Count),
});
export type MediaTrackSettings = Static<typeof TrackSettings>;

/** Addresses a participant: a room id and a session id (`ps_…`), both made by the control plane. */
export const mediaAddress = { room: Text, participant: Text };
/** The control plane understands `stream.states`; the process that takes over the participant says it again. */
const streamStates = Type.Optional(Type.Boolean());
const choice = {
  trackIds: Type.Optional(Type.Array(Text, { maxItems: 500 })),
  identities: Type.Optional(Type.Array(Text, { maxItems: 500 })),
};
/** Data messages by signaling a second, for receivers without a data channel: of one sender, and to one receiver. */
const Fallback = Type.Object({ sentPerSecond: Count, receivedPerSecond: Count });
export type DataFallback = Static<typeof Fallback>;

/**
 * The pipes of a node: where others reach each of its media processes, and what is new at each start of it. `id` is
 * another one whenever any of it is. Keys come from the fleet's secret and both tickets.
 */
export const NodePipes = Type.Object({
  id: Text,
  host: Text,
  ends: Type.Array(
    Type.Object({
      port: Type.Integer({ minimum: 1, maximum: 65_535 }),
      ticket: Type.String({ pattern: '^[0-9a-f]{32}$' }),
    }),
    { maxItems: 256 },
  ),
});
export type MediaNodePipes = Static<typeof NodePipes>;

const TrackChoice = Type.Object(choice);
export type MediaTrackChoice = Static<typeof TrackChoice>;

/** The commands of the control plane with what each carries; `MediaResponses` has what comes back. */
export const mediaRequests = {
  /** Idempotent. A room that stays without participants closes by itself after `emptyTimeoutSeconds` (default 60). */
  'room.open': Type.Object({
    room: Text,
    emptyTimeoutSeconds: Type.Optional(Count),
    dataFallback: Type.Optional(Fallback),
  }),
  /** Another node of the fleet, which rooms may be linked to from now on. Idempotent; the newest counts. */
  'node.meet': Type.Object({ node: Text, pipes: NodePipes }),
  /**
   * On which other nodes the room is: those before that are left out are not of the room any more. `own` is what the
   * control plane holds for this node's pipes; the answer has them when they are others by now, and in `unknown` the
   * nodes that are to be met first, as they are now.
   */
  'room.link': Type.Object({
    room: Text,
    own: Text,
    nodes: Type.Array(Type.Object({ node: Text, pipes: Text }), { maxItems: 64 }),
  }),
  /** Removes everybody. Idempotent. */
  'room.close': Type.Object({ room: Text, reason: CloseReason }),
  /**
   * Idempotent for one session id. The connection that adds a participant owns it: participant events go there.
   * With `autoSubscribe` the node offers all tracks in `sub.offer` at once. Another session of the same identity in the
   * room is closed with DUPLICATE_IDENTITY; `order` says which of two is the newer one, and an older is refused with STALE.
   */
  'participant.add': Type.Object({
    ...mediaAddress,
    identity: Text,
    order: Type.Optional(Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })),
    permissions: Permissions,
    autoSubscribe: Type.Boolean(),
    adaptiveStream: Type.Optional(Type.Boolean()),
    /** Videos that are sent at once: those of highest priority, then those that are shown, then of who spoke last. */
    maxVisible: Type.Optional(Count),
    /** Without a signaling socket (WHIP, WHEP): it ends when its transport is closed, fails or falls silent. */
    plain: Type.Optional(Type.Boolean()),
    /** One of an audience. The answer never lists such: who joins is told of members alone. */
    viewer: Type.Optional(Type.Boolean()),
    /** The answer leaves out who else is there: in a large room many join, and few ask. */
    brief: Type.Optional(Type.Boolean()),
    streamStates,
  }),
  /** Takes over a participant after its signaling socket moved to another process; a pending `sub.offer` is repeated. */
  'participant.attach': Type.Object({ ...mediaAddress, streamStates }),
  /** Idempotent. */
  'participant.remove': Type.Object({ ...mediaAddress, reason: CloseReason }),
  /** Tracks, subscriptions and data that the new permissions forbid end at once. */
  'participant.update': Type.Object({ ...mediaAddress, permissions: Permissions }),
  /**
   * Publishes. The first offer is whole, later ones carry changed entries only. All or nothing: one forbidden track
   * refuses the call with FORBIDDEN.
   */
  'pub.offer': Type.Object({
    ...mediaAddress,
    tracks: Type.Array(TrackRequest, { maxItems: 16 }),
    description: OpaqueDescription,
  }),
  'pub.unpublish': Type.Object({ ...mediaAddress, trackIds: Type.Array(Text, { maxItems: 100 }) }),
  /** `revision` must be that of the latest `sub.offer`, else STALE. */
  'sub.answer': Type.Object({ ...mediaAddress, revision: Count, description: OpaqueDescription }),
  /**
   * For a client that offers what it wants to receive (WHEP): its lines are all there will be, tracks of the room take
   * them in turn, and nothing is negotiated again. No `sub.offer` counts from then on.
   */
  'sub.accept': Type.Object({ ...mediaAddress, description: OpaqueDescription }),
  /** Accepted and not needed: the node learns the client's address from its connectivity checks. */
  ice: Type.Object({
    ...mediaAddress,
    pc: Transport,
    candidates: Type.Array(Text, { maxItems: 64 }),
    final: Type.Optional(Type.Boolean()),
    /** The ICE session that they belong to; STALE when the transport has another one. */
    ufrag: Type.Optional(Text),
  }),
  /**
   * Rebuilds a transport. The client makes a new RTCPeerConnection. `pub`: `description` is its whole offer, existing
   * tracks named by their track id; the answer comes back. `sub`: no description; a whole `sub.offer` with
   * `restart: true` follows. `received`: how many messages of others the client has had on the `reliable` channel of the
   * transport that it gives up; those after them come again on the next one.
   */
  'ice.restart': Type.Object({
    ...mediaAddress,
    pc: Transport,
    description: Type.Optional(OpaqueDescription),
    received: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  }),
  /** `by: "SERVER"` also stops forwarding, until the server unmutes. */
  'track.mute': Type.Object({
    ...mediaAddress,
    trackId: Text,
    muted: Type.Boolean(),
    by: Type.Enum(['PUBLISHER', 'SERVER']),
  }),
  'track.settings': Type.Object({ ...mediaAddress, updates: Type.Array(TrackSettings, { maxItems: 200 }) }),
  subscribe: Type.Object({ ...mediaAddress, ...choice }),
  unsubscribe: Type.Object({ ...mediaAddress, ...choice }),
  /**
   * Sends data to a room. `participant` is the sender and must hold `publishData`; without it the control plane itself
   * speaks (`from` is then null for receivers). Receivers without an open data channel get it as a `data` event.
   */
  'data.send': Type.Object({
    room: Text,
    participant: Type.Optional(Text),
    topic: Type.Optional(Type.String({ maxLength: 64 })),
    payload: Type.String({ maxLength: MEDIA_CONTROL_DATA_BYTES_MAX * 2 }),
    encoding: Type.Optional(Type.Enum(['utf8', 'base64'])),
    /** Identities; omitted: everybody else in the room. */
    to: Type.Optional(Type.Array(Text, { maxItems: 100 })),
    reliable: Type.Boolean(),
  }),
  /** Everything the node holds, or one room. Ask for it after `hello` with `resumed: false`. */
  snapshot: Type.Object({
    room: Type.Optional(Text),
    /** Without `subscriptions`, which are as many as participants times tracks. */
    brief: Type.Optional(Type.Boolean()),
    /** An audience may be many thousands, and few ask for it. */
    withoutViewers: Type.Optional(Type.Boolean()),
  }),
  stats: Type.Object({ room: Text, participant: Type.Optional(Text) }),
  ping: Type.Object({}),
} satisfies Record<string, TObject>;

export type MediaCommandName = keyof typeof mediaRequests;

/** Name → what the command carries. */
export type MediaRequests = { [Name in MediaCommandName]: Static<(typeof mediaRequests)[Name]> };

/** A command without its number on the wire; the union of all, or the one of a name. */
export type MediaCommand<Name extends MediaCommandName = MediaCommandName> = {
  [N in Name]: { type: N; data: MediaRequests[N] };
}[Name];

export type MediaCommandFrame<Name extends MediaCommandName = MediaCommandName> = {
  [N in Name]: { id: number; type: N; data: MediaRequests[N] };
}[Name];

/** `id` alone (`type: null`) when it is not a command of the table with the data of its row; undefined without an id. */
export function parseMediaCommand(text: string): MediaCommandFrame | { id: number; type: null } | undefined {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof frame !== 'object' || frame === null || !('id' in frame) || !isId(frame.id)) return undefined;
  return isCommand(frame) ? frame : { id: frame.id, type: null };
}

const isId = (id: unknown): id is number => typeof id === 'number' && Number.isSafeInteger(id);

const validators = new Map<string, Validator>();

function isCommand(frame: object): frame is MediaCommandFrame {
  if (!('type' in frame) || !('data' in frame) || !isCommandName(frame.type)) return false;
  const validator = validators.get(frame.type) ?? Compile(mediaRequests[frame.type]);
  validators.set(frame.type, validator);
  return validator.Check(frame.data);
}

const isCommandName = (type: unknown): type is MediaCommandName =>
  typeof type === 'string' && Object.hasOwn(mediaRequests, type);
