import type { MediaCommandFrame, MediaCommandName } from '@parley/contract/media-control';
import { MEDIA_CONTROL_DATA_BYTES_MAX } from '@parley/contract/media-control';

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string' && value.length >= 1 && value.length <= 256;
const flag: Check = (value) => typeof value === 'boolean';
const count: Check = (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= 1e9;
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const oneOf =
  (...values: unknown[]): Check =>
  (value) =>
    values.includes(value);
const list =
  (check: Check, lengthMax: number): Check =>
  (value) =>
    Array.isArray(value) && value.length <= lengthMax && value.every(check);
const shape =
  (fields: Record<string, Check>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(fields).every(([name, check]) => check((value as Record<string, unknown>)[name]));
/** Read whole, field by field, by `parseDescription`. */
const description: Check = (value) => typeof value === 'object' && value !== null;

const permissions = shape({
  join: flag,
  subscribe: flag,
  publish: flag,
  publishAudio: flag,
  publishVideo: flag,
  publishData: flag,
});
const trackRequest = shape({
  cid: text,
  kind: oneOf('AUDIO', 'VIDEO'),
  source: oneOf('CAMERA', 'MICROPHONE', 'SCREEN_SHARE', 'SCREEN_SHARE_AUDIO', 'UNKNOWN'),
  name: maybe(text),
  muted: maybe(flag),
  layers: maybe(
    list(
      shape({
        rid: (value) => typeof value === 'string',
        width: maybe(count),
        height: maybe(count),
        bitrate: maybe(count),
      }),
      3,
    ),
  ),
});
const settings = shape({
  trackId: text,
  enabled: maybe(flag),
  width: maybe(count),
  height: maybe(count),
  fps: maybe(count),
  maxLayer: maybe(count),
  priority: maybe(count),
});
const address = { room: text, participant: text };
const choice = { ...address, trackIds: maybe(list(text, 500)), identities: maybe(list(text, 500)) };

const commands: Record<MediaCommandName, Check> = {
  'room.open': shape({ room: text, emptyTimeoutSeconds: maybe(count) }),
  'room.close': shape({ room: text, reason: text }),
  'participant.add': shape({
    ...address,
    identity: text,
    order: maybe((value) => Number.isSafeInteger(value)),
    permissions,
    autoSubscribe: flag,
    adaptiveStream: maybe(flag),
  }),
  'participant.attach': shape(address),
  'participant.remove': shape({ ...address, reason: text }),
  'participant.update': shape({ ...address, permissions }),
  'pub.offer': shape({ ...address, tracks: list(trackRequest, 16), description }),
  'pub.unpublish': shape({ ...address, trackIds: list(text, 100) }),
  'sub.answer': shape({ ...address, revision: count, description }),
  'sub.accept': shape({ ...address, description }),
  ice: shape({ ...address, pc: oneOf('pub', 'sub'), candidates: list(text, 64), final: maybe(flag) }),
  'ice.restart': shape({ ...address, pc: oneOf('pub', 'sub'), description: maybe(description) }),
  'track.mute': shape({ ...address, trackId: text, muted: flag, by: oneOf('PUBLISHER', 'SERVER') }),
  'track.settings': shape({ ...address, updates: list(settings, 200) }),
  subscribe: shape(choice),
  unsubscribe: shape(choice),
  'data.send': shape({
    room: text,
    participant: maybe(text),
    topic: maybe((value) => typeof value === 'string' && value.length <= 64),
    payload: (value) => typeof value === 'string' && value.length <= MEDIA_CONTROL_DATA_BYTES_MAX * 2,
    encoding: maybe(oneOf('utf8', 'base64')),
    to: maybe(list(text, 100)),
    reliable: flag,
  }),
  snapshot: shape({ room: maybe(text) }),
  stats: shape({ room: text, participant: maybe(text) }),
  ping: shape({}),
};

/** A frame of the control plane. `id` alone when it is not a command that we know with data as declared. */
export function parseCommand(frame: string): MediaCommandFrame | { id: number; type: null } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, type, data } = value as Record<string, unknown>;
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return undefined;
  const check =
    typeof type === 'string' && Object.hasOwn(commands, type) ? commands[type as MediaCommandName] : undefined;
  // The check of the row proved that the data is the command's.
  return check?.(data) ? (value as MediaCommandFrame) : { id, type: null };
}
