import {
  CODEC_RATES,
  type Codec,
  type Description,
  EXTENSION_URIS,
  type ExtensionName,
  type Extensions,
  type MediaEntry,
} from './description.ts';

const ENTRIES_MAX = 256;
const TOKEN = /^[A-Za-z0-9._~+/=:@|{}-]{1,128}$/;
const MID = /^[A-Za-z0-9._-]{1,16}$/;
const ICE = /^[A-Za-z0-9+/]{4,256}$/;
const FINGERPRINT = /^sha-(256|384|512) [0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){31,63}$/;
const CANDIDATE = /^udp \d{1,10} [0-9A-Za-z.:-]{1,255} \d{1,5} (host|srflx|prflx|relay)$/;
const FMTP = /^[A-Za-z0-9;=/., _-]{1,256}$/;
const KINDS = ['audio', 'video', 'data'] as const;
const DIRECTIONS = ['sendrecv', 'sendonly', 'recvonly', 'inactive'] as const;
const ROLES = ['actpass', 'active', 'passive'] as const;

/**
 * A description from outside, checked field by field: every string ends up in an SDP line, so nothing passes that
 * could end one. Undefined when anything is not as it must be. Unknown fields are dropped.
 */
export function parseDescription(value: unknown): Description | undefined {
  if (!isObject(value) || !Array.isArray(value['media']) || value['media'].length > ENTRIES_MAX) return undefined;
  const media = value['media'].map(parseEntry);
  if (!isWhole(media) || new Set(media.map((entry) => entry.mid)).size !== media.length) return undefined;
  const description: Description = { media };

  const { ice, dtls, candidates } = value;
  if (ice !== undefined) {
    if (!isObject(ice) || !matches(ice['ufrag'], ICE) || !matches(ice['pwd'], ICE)) return undefined;
    if (ice['pwd'].length < 22) return undefined;
    description.ice = { ufrag: ice['ufrag'], pwd: ice['pwd'] };
  }
  if (dtls !== undefined) {
    if (!isObject(dtls) || !isOneOf(dtls['role'], ROLES) || !matches(dtls['fingerprint'], FINGERPRINT))
      return undefined;
    description.dtls = { role: dtls['role'], fingerprint: dtls['fingerprint'] };
  }
  if (candidates !== undefined) {
    if (!Array.isArray(candidates) || candidates.length > 32) return undefined;
    if (!candidates.every((candidate) => matches(candidate, CANDIDATE))) return undefined;
    description.candidates = candidates;
  }
  return description;
}

function parseEntry(value: unknown): MediaEntry | undefined {
  if (!isObject(value) || !matches(value['mid'], MID)) return undefined;
  if (!isOneOf(value['kind'], KINDS) || !isOneOf(value['direction'], DIRECTIONS)) return undefined;
  const entry: MediaEntry = { mid: value['mid'], kind: value['kind'], direction: value['direction'] };
  const { trackId, streamId, codecs, extensions, ssrcs, rids } = value;
  if (trackId !== undefined) {
    if (!matches(trackId, TOKEN)) return undefined;
    entry.trackId = trackId;
  }
  if (streamId !== undefined) {
    if (!matches(streamId, TOKEN)) return undefined;
    entry.streamId = streamId;
  }
  if (codecs !== undefined) {
    if (!Array.isArray(codecs) || codecs.length > 16) return undefined;
    const parsed = codecs.map(parseCodec);
    if (!isWhole(parsed)) return undefined;
    entry.codecs = parsed;
  }
  if (extensions !== undefined) {
    const parsed = parseExtensions(extensions);
    if (!parsed) return undefined;
    entry.extensions = parsed;
  }
  if (ssrcs !== undefined) {
    if (!Array.isArray(ssrcs) || ssrcs.length > 2 || !ssrcs.every((ssrc) => isInteger(ssrc, 1, 0xffffffff)))
      return undefined;
    entry.ssrcs = ssrcs;
  }
  if (rids !== undefined) {
    if (!Array.isArray(rids) || rids.length < 1 || rids.length > 4 || !rids.every((rid) => matches(rid, MID)))
      return undefined;
    if (new Set(rids).size !== rids.length) return undefined;
    entry.rids = rids;
  }
  return entry;
}

function parseCodec(value: unknown): Codec | undefined {
  if (!isObject(value) || typeof value['name'] !== 'string' || !Object.hasOwn(CODEC_RATES, value['name']))
    return undefined;
  if (!isInteger(value['pt'], 0, 127)) return undefined;
  // `hasOwn` above proved the name.
  const codec: Codec = { name: value['name'] as Codec['name'], pt: value['pt'] };
  if (value['rtx'] !== undefined) {
    if (!isInteger(value['rtx'], 0, 127)) return undefined;
    codec.rtx = value['rtx'];
  }
  if (value['fmtp'] !== undefined) {
    if (!matches(value['fmtp'], FMTP)) return undefined;
    codec.fmtp = value['fmtp'];
  }
  return codec;
}

function parseExtensions(value: unknown): Extensions | undefined {
  if (!isObject(value)) return undefined;
  const extensions: Extensions = {};
  for (const [name, id] of Object.entries(value)) {
    if (!Object.hasOwn(EXTENSION_URIS, name)) continue;
    if (!isInteger(id, 1, 255) || id === 15) return undefined;
    extensions[name as ExtensionName] = id;
  }
  return extensions;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const matches = (value: unknown, pattern: RegExp): value is string => typeof value === 'string' && pattern.test(value);
const isInteger = (value: unknown, least: number, most: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
const isOneOf = <T extends string>(value: unknown, values: readonly T[]): value is T =>
  (values as readonly unknown[]).includes(value);
const isWhole = <T>(values: (T | undefined)[]): values is T[] => values.every((value) => value !== undefined);
