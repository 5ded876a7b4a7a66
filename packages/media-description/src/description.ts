/**
 * The compact description (contract 8): what an SDP says, less what both ends know already. A whole description has
 * `ice`, `dtls` and every entry; a delta has only what changed. Directions are those of the side that wrote it.
 */
export interface Description {
  ice?: IceParameters;
  dtls?: DtlsParameters;
  /** `udp 2130706431 192.0.2.7 4443 host`, most wanted first. */
  candidates?: string[];
  /** In the order of the m-lines; a new entry goes to the end. */
  media: MediaEntry[];
}

export interface IceParameters {
  ufrag: string;
  pwd: string;
}

export interface DtlsParameters {
  role: 'actpass' | 'active' | 'passive';
  /** `sha-256 AB:CD:…` */
  fingerprint: string;
}

export type Kind = 'audio' | 'video' | 'data';
export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

export interface MediaEntry {
  mid: string;
  kind: Kind;
  direction: Direction;
  /** In a publisher's offer of a new track its `cid`. */
  trackId?: string;
  /** Tracks with one stream id are played in sync. */
  streamId?: string;
  /** Most wanted first. Left out by `data`. */
  codecs?: Codec[];
  /** Left out: `DEFAULT_EXTENSIONS` of the kind. */
  extensions?: Extensions;
  /** Id of one more extension that the node offers, the dependency descriptor; who does not know it leaves it out. */
  descriptor?: number;
  /** The stream, then its retransmissions. */
  ssrcs?: number[];
  /** Simulcast layers, lowest first. */
  rids?: string[];
}

export interface Codec {
  name: CodecName;
  pt: number;
  /** Payload type of retransmissions. */
  rtx?: number;
  fmtp?: string;
}

export type CodecName = 'opus' | 'red' | 'VP8' | 'VP9' | 'H264' | 'AV1';
export type Extensions = Partial<Record<ExtensionName, number>>;
export type ExtensionName = keyof typeof EXTENSION_URIS;

export const EXTENSION_URIS = {
  mid: 'urn:ietf:params:rtp-hdrext:sdes:mid',
  rid: 'urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id',
  repairedRid: 'urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id',
  audioLevel: 'urn:ietf:params:rtp-hdrext:ssrc-audio-level',
  absSendTime: 'http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time',
  transportCc: 'http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01',
  orientation: 'urn:3gpp:video-orientation',
  playoutDelay: 'http://www.webrtc.org/experiments/rtp-hdrext/playout-delay',
  dependencyDescriptor: 'https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension',
} as const;

/** What the node offers; an entry without `extensions` means these. The ids are those that Chromium gives them too. */
export const DEFAULT_EXTENSIONS: Record<Kind, Extensions> = {
  audio: { audioLevel: 1, absSendTime: 2, transportCc: 3 },
  video: { absSendTime: 2, transportCc: 3, playoutDelay: 5, orientation: 13 },
  data: {},
};

/** Of `descriptor` in the node's offers. */
export const DESCRIPTOR_ID = 12;

export const CODEC_RATES: Record<CodecName, string> = {
  opus: '48000/2',
  red: '48000/2',
  VP8: '90000',
  VP9: '90000',
  H264: '90000',
  AV1: '90000',
};
