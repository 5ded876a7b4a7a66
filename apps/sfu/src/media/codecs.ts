import type { MediaTrackRequest } from '@parley/contract/media-control';
import {
  type Codec,
  type CodecName,
  DEFAULT_EXTENSIONS,
  type Extensions,
  type MediaEntry,
} from '@parley/media-description';

export const OPUS_PAYLOAD_TYPE = 111;
const FEC = 'minptime=10;useinbandfec=1';
const STEREO = /\bstereo=1/;
/** Payload types toward subscribers: fixed, so that one subscriber's m-line can be used for any track of its kind. */
const SENT: Record<CodecName, { pt: number; rtx?: number; fmtp?: string }> = {
  opus: { pt: OPUS_PAYLOAD_TYPE, fmtp: FEC },
  red: { pt: 63, fmtp: `${OPUS_PAYLOAD_TYPE}/${OPUS_PAYLOAD_TYPE}` },
  VP8: { pt: 96, rtx: 97 },
  VP9: { pt: 98, rtx: 99, fmtp: 'profile-id=0' },
  H264: { pt: 102, rtx: 103 },
  AV1: { pt: 45, rtx: 46, fmtp: 'level-idx=5;profile=0;tier=0' },
};

const AUDIO: readonly CodecName[] = ['opus', 'red'];
export const CLOCK_RATE = { audio: 48_000, video: 90_000 } as const;

/** How a published track is encoded: exactly one codec, and RED around Opus when the publisher prefers it. */
export interface Encoding {
  codec: Codec;
  /** Set when packets may come as RED around `codec`. */
  red: Codec | undefined;
}

/** The publisher's preferred codec among those that we forward; undefined when there is none. */
export function chooseEncoding(entry: MediaEntry): Encoding | undefined {
  const { kind, codecs = [] } = entry;
  const usable = codecs.filter(({ name }) => AUDIO.includes(name) === (kind === 'audio'));
  const codec = usable.find(({ name }) => name !== 'red');
  if (!codec) return undefined;
  const red = usable[0]?.name === 'red' ? usable[0] : undefined;
  if (canTakeRtx(entry, codec)) return { codec, red };
  const { rtx: _, ...plain } = codec;
  return { codec: plain, red };
}

/** Packets are repeated by RTX where it is clear what repeats what; who does not get it repeats on the stream itself. */
function canTakeRtx({ kind, codecs = [], rids = [], extensions }: MediaEntry, { rtx }: Codec): boolean {
  if (kind !== 'video' || rtx === undefined || codecs.some(({ pt }) => pt === rtx)) return false;
  return rids.length <= 1 || extensions?.repairedRid !== undefined;
}

/** What the answer to a publisher says. */
export function acceptedCodecs({ codec, red }: Encoding, source?: MediaTrackRequest['source']): Codec[] {
  const { name, pt, rtx, fmtp } = codec;
  const plain = { name, pt, ...(rtx !== undefined && { rtx }), ...(fmtp && { fmtp }) };
  if (codec.name === 'opus') plain.fmtp = opusFor(codec, source);
  return red ? [{ name: red.name, pt: red.pt, fmtp: `${codec.pt}/${codec.pt}` }, plain] : [plain];
}

/** A voice is mono and silent between sentences; what a screen plays, or is offered as stereo, is kept as it is. */
function opusFor({ fmtp = '' }: Codec, source: MediaTrackRequest['source'] | undefined): string {
  const isStereo = source === 'SCREEN_SHARE_AUDIO' || STEREO.test(fmtp);
  const isQuietable = !isStereo && !/\busedtx=0/.test(fmtp);
  return [FEC, isStereo && 'stereo=1;sprop-stereo=1', isQuietable && 'usedtx=1'].filter(Boolean).join(';');
}

/** What a subscriber is offered for a track; who answers without its codec can be sent its backup on the same line. */
export function offeredCodecs({ codec, red }: Encoding, backup?: MediaTrackRequest['backupCodec']): Codec[] {
  const plain = sentCodec(codec.name, codec.fmtp);
  if (backup) return [plain, sentCodec(backup)];
  return red ? [{ name: 'red', ...SENT.red }, plain] : [plain];
}

function sentCodec(name: CodecName, own?: string): Codec {
  const { pt, rtx, fmtp = own } = SENT[name];
  return { name, pt, ...(rtx !== undefined && { rtx }), ...(fmtp && { fmtp }) };
}

/** Extensions that the node understands from publishers. */
const READ = ['mid', 'rid', 'audioLevel', 'absSendTime', 'transportCc', 'orientation', 'playoutDelay'] as const;

/** Which codecs carry several spatial layers in one stream. */
export const isScalable = ({ codec: { name } }: Encoding): boolean => name === 'VP9' || name === 'AV1';

/** The dependency descriptor numbers the frames of one stream: of several streams a receiver could not follow it. */
export function acceptedExtensions(entry: MediaEntry, encoding: Encoding): Extensions {
  const { dependencyDescriptor, repairedRid, ...offered } = entry.extensions ?? DEFAULT_EXTENSIONS[entry.kind];
  const hasDescriptor = dependencyDescriptor !== undefined && isScalable(encoding) && !entry.rids;
  const hasRepairedRid = repairedRid !== undefined && encoding.codec.rtx !== undefined;
  return {
    ...known(offered),
    ...(hasDescriptor && { dependencyDescriptor }),
    ...(hasRepairedRid && { repairedRid }),
  };
}

function known(offered: Extensions): Extensions {
  return Object.fromEntries(READ.flatMap((name) => (offered[name] === undefined ? [] : [[name, offered[name]]])));
}
