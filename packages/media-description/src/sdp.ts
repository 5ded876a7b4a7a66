import { isSame } from './delta.ts';
import {
  CODEC_RATES,
  type Codec,
  type CodecName,
  DEFAULT_EXTENSIONS,
  type Description,
  type Direction,
  type DtlsParameters,
  EXTENSION_URIS,
  type ExtensionName,
  type Extensions,
  type Kind,
  type MediaEntry,
} from './description.ts';

/** Encoding names are compared without regard to case (RFC 4855): GStreamer writes OPUS. */
const CODEC_NAMES = new Map(
  Object.entries(CODEC_RATES).map(([name, rate]) => [`${name}/${rate}`.toLowerCase(), name as CodecName]),
);

/** Largest data channel message either side accepts. */
export const DATA_MESSAGE_BYTES_MAX = 65_536;

const DIRECTIONS: readonly string[] = ['sendrecv', 'sendonly', 'recvonly', 'inactive'] satisfies Direction[];
const URI_NAMES = new Map(Object.entries(EXTENSION_URIS).map(([name, uri]) => [uri as string, name as ExtensionName]));

/** Reads what a browser wrote. Codecs, extensions and lines that we do not use are left out. */
export function fromSdp(sdp: string): Description {
  const [head = '', ...blocks] = sdp.split(/\r?\nm=/);
  const description: Description = { media: [] };
  const candidates = new Set<string>();
  for (const block of blocks) {
    const lines = `m=${block}`.split(/\r?\n/);
    const transport = new Lines([...head.split(/\r?\n/), ...lines]);
    readTransport(transport, description);
    for (const line of transport.all('candidate')) {
      const [, component, protocol, priority, address, port, , type] = line.split(' ');
      if (component === '1' && protocol?.toLowerCase() === 'udp')
        candidates.add(`udp ${priority} ${address} ${port} ${type}`);
    }
    const entry = readEntry(lines[0] ?? '', new Lines(lines));
    if (entry) description.media.push(entry);
  }
  if (candidates.size > 0) description.candidates = [...candidates];
  return description;
}

/** The `a=` lines of one block, by name. */
class Lines {
  readonly #lines: readonly string[];

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  all(name: string): string[] {
    return this.#lines.filter((line) => line.startsWith(`a=${name}:`)).map((line) => line.slice(name.length + 3));
  }

  last(name: string): string | undefined {
    return this.all(name).at(-1);
  }

  has(line: string): boolean {
    return this.#lines.includes(line);
  }
}

function readTransport(lines: Lines, description: Description): void {
  const ufrag = lines.last('ice-ufrag');
  const pwd = lines.last('ice-pwd');
  const fingerprint = lines.last('fingerprint');
  // The role grammar is checked by `parseDescription` on the receiving side.
  const role = lines.last('setup') as DtlsParameters['role'] | undefined;
  if (!description.ice && ufrag && pwd) description.ice = { ufrag, pwd };
  if (!description.dtls && fingerprint && role) description.dtls = { role, fingerprint };
}

function readEntry(mLine: string, lines: Lines): MediaEntry | undefined {
  const mid = lines.last('mid');
  const [type, port] = mLine.slice(2).split(' ');
  if (!mid || (type !== 'audio' && type !== 'video' && type !== 'application')) return undefined;
  // RFC 8843: port 0 also says that a line lives only in the bundle.
  const isOff = port === '0' && !lines.has('a=bundle-only');
  if (type === 'application') return { mid, kind: 'data', direction: isOff ? 'inactive' : 'sendrecv' };

  const direction = (DIRECTIONS.find((name) => lines.has(`a=${name}`)) ?? 'sendrecv') as Direction;
  const entry: MediaEntry = { mid, kind: type, direction: isOff ? 'inactive' : direction };
  entry.codecs = isOff ? [] : readCodecs(mLine.split(' ').slice(3), type, lines);
  const extensions: Extensions = {};
  for (const line of lines.all('extmap')) {
    const [id = '', uri = ''] = line.split(' ');
    const name = URI_NAMES.get(uri);
    if (name) extensions[name] = Number.parseInt(id, 10);
  }
  // Transport-wide numbers are useless without the feedback that reports them.
  if (!lines.all('rtcp-fb').some((line) => line.endsWith(' transport-cc'))) delete extensions.transportCc;
  if (!isSame(extensions, DEFAULT_EXTENSIONS[type])) entry.extensions = extensions;
  const [streamId, trackId] = lines.last('msid')?.split(' ') ?? [];
  if (trackId) entry.trackId = trackId;
  if (streamId && streamId !== '-') entry.streamId = streamId;
  // `recv a;b send c`: the list of what this side does. Of alternatives (`a,~b`) the first, paused or not.
  const simulcast = lines.last('simulcast')?.split(' ') ?? [];
  const list = simulcast[Math.max(0, simulcast.indexOf(direction.slice(0, 4))) + 1];
  if (list) entry.rids = list.split(';').map((rid) => /[^~,]+/.exec(rid)?.[0] ?? '');
  const ssrcs = readSsrcs(lines);
  if (ssrcs.length > 0 && !entry.rids) entry.ssrcs = ssrcs;
  return entry;
}

/** The stream and what repeats it (RFC 5576 4.2); of others, as those of error correction, only the first. */
function readSsrcs(lines: Lines): number[] {
  const pair = lines.all('ssrc-group').find((line) => line.startsWith('FID '));
  const ssrcs = pair?.split(/ +/).slice(1, 3) ?? lines.all('ssrc').slice(0, 1);
  return ssrcs.map((line) => Number.parseInt(line, 10));
}

function readCodecs(payloadTypes: readonly string[], kind: Kind, lines: Lines): Codec[] {
  const fmtps = new Map(lines.all('fmtp').map((line) => splitOnce(line)));
  const maps = new Map(lines.all('rtpmap').map((line) => splitOnce(line)));
  const codecs: Codec[] = [];
  for (const pt of payloadTypes) {
    const map = maps.get(pt) ?? '';
    const name = CODEC_NAMES.get(map.toLowerCase());
    if (!name || !isUsed(name, fmtps.get(pt) ?? '')) continue;
    const codec: Codec = { name, pt: Number(pt) };
    const fmtp = fmtps.get(pt);
    if (fmtp) codec.fmtp = fmtp;
    if (kind === 'video') {
      const isRtx = (other: string): boolean => /^rtx\/90000$/i.test(maps.get(other) ?? '');
      // Some write for how long, beside it (RFC 4588 8.6).
      const repeats = (other: string): boolean => !!fmtps.get(other)?.split(/ *; */).includes(`apt=${pt}`);
      const rtx = payloadTypes.find((other) => isRtx(other) && repeats(other));
      if (rtx) codec.rtx = Number(rtx);
    }
    codecs.push(codec);
  }
  // One profile of H264 is enough: the one that every browser decodes, else what there is.
  const isCommon = ({ fmtp = '' }: Codec): boolean => /profile-level-id=42e0/i.test(fmtp);
  const only = codecs.filter(({ name }) => name === 'H264').find(isCommon);
  return only ? codecs.filter((codec) => codec.name !== 'H264' || isCommon(codec)) : codecs;
}

/** One profile a codec is enough; of H264 baseline, main or high, in the packetization that all browsers send. */
function isUsed(name: CodecName, fmtp: string): boolean {
  if (name === 'H264') return fmtp.includes('packetization-mode=1') && /profile-level-id=(42|4d|64)/i.test(fmtp);
  if (name === 'VP9') return !/profile-id=[1-9]/.test(fmtp);
  if (name === 'AV1') return !/profile=[1-9]/.test(fmtp);
  return true;
}

const splitOnce = (line: string): [string, string] => {
  const space = line.indexOf(' ');
  return [line.slice(0, space), line.slice(space + 1)];
};

/** Writes a whole description as the SDP a browser takes in `setRemoteDescription`. */
export function toSdp(description: Description): string {
  const { ice, dtls, candidates = [], media } = description;
  if (!ice || !dtls) throw new Error('A delta is not an SDP: apply it first.');
  const live = media.filter((entry) => !isRejected(entry));
  const head = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0'];
  if (live.length > 0) head.push(`a=group:BUNDLE ${live.map((entry) => entry.mid).join(' ')}`);
  head.push('a=extmap-allow-mixed', 'a=msid-semantic:WMS *');
  const transport = [
    `a=ice-ufrag:${ice.ufrag}`,
    `a=ice-pwd:${ice.pwd}`,
    'a=ice-options:trickle',
    `a=fingerprint:${dtls.fingerprint}`,
    `a=setup:${dtls.role}`,
  ];
  const first = live[0];
  const blocks = media.map((entry) => [
    ...mediaLines(entry),
    ...transport,
    ...(entry === first ? candidates.map(candidateLine) : []),
  ]);
  return [head, ...blocks].map((lines) => `${lines.join('\r\n')}\r\n`).join('');
}

const isRejected = ({ kind, direction, codecs }: MediaEntry): boolean =>
  kind === 'data' ? direction === 'inactive' : !codecs?.length;

function candidateLine(candidate: string, index: number): string {
  const [protocol, priority, address, port, type] = candidate.split(' ');
  return `a=candidate:${index + 1} 1 ${protocol} ${priority} ${address} ${port} typ ${type}`;
}

function mediaLines(entry: MediaEntry): string[] {
  const { mid, kind, direction, codecs = [] } = entry;
  if (kind === 'data' && isRejected(entry))
    return ['m=application 0 UDP/DTLS/SCTP webrtc-datachannel', 'c=IN IP4 0.0.0.0', `a=mid:${mid}`];
  if (kind === 'data')
    return [
      'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
      'c=IN IP4 0.0.0.0',
      `a=mid:${mid}`,
      'a=sctp-port:5000',
      `a=max-message-size:${DATA_MESSAGE_BYTES_MAX}`,
    ];
  if (isRejected(entry)) return [`m=${kind} 0 UDP/TLS/RTP/SAVPF 0`, 'c=IN IP4 0.0.0.0', `a=mid:${mid}`, 'a=inactive'];
  const payloadTypes = codecs.flatMap((codec) => [codec.pt, ...(codec.rtx === undefined ? [] : [codec.rtx])]);
  const { extensions: base = DEFAULT_EXTENSIONS[kind], descriptor: dependencyDescriptor } = entry;
  const extensions = Object.entries({ ...base, ...(dependencyDescriptor && { dependencyDescriptor }) });
  return [
    `m=${kind} 9 UDP/TLS/RTP/SAVPF ${payloadTypes.join(' ')}`,
    'c=IN IP4 0.0.0.0',
    `a=mid:${mid}`,
    `a=${direction}`,
    'a=rtcp-mux',
    'a=rtcp-rsize',
    ...extensions.map(([name, id]) => `a=extmap:${id} ${EXTENSION_URIS[name as ExtensionName]}`),
    ...codecs.flatMap((codec) => codecLines(codec, kind, entry)),
    ...senderLines(entry),
  ];
}

function codecLines({ name, pt, rtx, fmtp }: Codec, kind: Kind, entry: MediaEntry): string[] {
  const lines = [`a=rtpmap:${pt} ${name}/${CODEC_RATES[name]}`];
  if (fmtp) lines.push(`a=fmtp:${pt} ${fmtp}`);
  if (kind === 'video')
    lines.push(...['goog-remb', 'ccm fir', 'nack', 'nack pli'].map((type) => `a=rtcp-fb:${pt} ${type}`));
  if (hasTransportFeedback(entry)) lines.push(`a=rtcp-fb:${pt} transport-cc`);
  if (rtx !== undefined) lines.push(`a=rtpmap:${rtx} rtx/90000`, `a=fmtp:${rtx} apt=${pt}`);
  return lines;
}

const hasTransportFeedback = ({ kind, extensions = DEFAULT_EXTENSIONS[kind] }: MediaEntry): boolean =>
  extensions.transportCc !== undefined;

function senderLines({ direction, rids = [], ssrcs = [], trackId, streamId = '-' }: MediaEntry): string[] {
  const isSender = direction === 'sendonly' || direction === 'sendrecv';
  const way = isSender ? 'send' : 'recv';
  const lines = rids.map((rid) => `a=rid:${rid} ${way}`);
  if (rids.length > 0) lines.push(`a=simulcast:${way} ${rids.join(';')}`);
  if (!isSender || !trackId) return lines;
  lines.push(`a=msid:${streamId} ${trackId}`);
  if (ssrcs.length > 1) lines.push(`a=ssrc-group:FID ${ssrcs.join(' ')}`);
  lines.push(...ssrcs.map((ssrc) => `a=ssrc:${ssrc} cname:${streamId}`));
  return lines;
}
