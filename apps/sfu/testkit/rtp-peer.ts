import { type Description, fromSdp, toSdp } from '@parley/media-description';
import { toTransportSdp } from '@parley/media-description/transport-sdp';
import * as native from 'node-datachannel';
import { forgottenOnceClosed } from '../src/media/native-part.ts';
import { isRtcp } from '../src/media/rtp.ts';

export const RTX_PAYLOAD_TYPE = 97;

/** Candidates of the node go into the one video line; the rest is as for any transport. */
const remoteSdp = (description: Description, hasData: boolean): string => {
  const candidates = toSdp(description)
    .split('\r\n')
    .filter((line) => line.startsWith('a=candidate'));
  return toTransportSdp(description, { hasData }).replace('a=mid:0\r\n', `a=mid:0\r\n${candidates.join('\r\n')}\r\n`);
};

/** A DTLS-SRTP peer without a browser: publishes one video, or receives whatever comes. */
export class RtpPeer {
  readonly #peer: native.PeerConnection;
  readonly #track: native.Track;
  readonly #candidates: string[];
  /** Packets of media, without reports. */
  received = 0;
  /** Each of those packets, as it came. */
  onMedia: (packet: Buffer) => void = () => {};
  /** Each report and request, as it came. */
  onRtcp: (packet: Buffer) => void = () => {};

  /** With a port it shares that one with the others of its process, as a node does, and can be found there. */
  constructor(name: string, udpPort?: number) {
    this.#peer = new native.PeerConnection(name, {
      iceServers: [],
      disableAutoNegotiation: true,
      forceMediaTransport: true,
      ...(udpPort && { enableIceUdpMux: true, portRangeBegin: udpPort, portRangeEnd: udpPort }),
    });
    this.#candidates = udpPort ? [`udp 2130706431 127.0.0.1 ${udpPort} host`] : [];
    const video = new native.Video('0', 'SendRecv');
    video.addVP8Codec(96);
    this.#track = forgottenOnceClosed(this.#peer.addTrack(video));
    this.#track.onMessage((packet) => {
      if (isRtcp(packet)) {
        this.onRtcp(packet);
        return;
      }
      this.received += 1;
      this.onMedia(packet);
    });
  }

  /** As a publisher of one VP8 video; with a second SSRC it can repeat by RTX. */
  offer(cid: string, ssrc: number, rtxSsrc?: number): Description {
    this.#peer.setLocalDescription('offer');
    const codecs = [{ name: 'VP8' as const, pt: 96, ...(rtxSsrc && { rtx: RTX_PAYLOAD_TYPE }) }];
    const extensions = { absSendTime: 2, mid: 4 };
    const line = { mid: '0', kind: 'video' as const, direction: 'sendonly' as const, trackId: cid };
    const ssrcs = rtxSsrc ? [ssrc, rtxSsrc] : [ssrc];
    return { ...this.#local(), media: [{ ...line, codecs, extensions, ssrcs }] };
  }

  /** The node's answer to `offer`. */
  accept(answer: Description): void {
    this.#peer.setRemoteDescription(remoteSdp(answer, false), 'answer');
  }

  /** As a subscriber. */
  answer(offer: Description): Description {
    const hasData = offer.media.some(({ kind }) => kind === 'data');
    this.#peer.setRemoteDescription(remoteSdp(offer, hasData), 'offer');
    this.#peer.setLocalDescription('answer');
    return { ...this.#local(), media: [] };
  }

  #local(): Description {
    const { ice, dtls } = fromSdp(this.#peer.localDescription()?.sdp ?? '');
    if (!ice || !dtls) throw new Error('The peer has no local description.');
    return { ice, dtls, candidates: this.#candidates, media: [] };
  }

  get isConnected(): boolean {
    return this.#peer.state() === 'connected';
  }

  /** False when there is no connection yet, or no longer. */
  send(packet: Buffer): boolean {
    try {
      return this.#track.sendMessageBinary(packet);
    } catch {
      return false;
    }
  }

  /** Each part by name. Even so the library keeps the process alive until `endPeers`. */
  close(): void {
    this.#track.close();
    this.#peer.close();
  }
}

/** After the last peer of a process is closed: its threads end, and with them what keeps the process alive. */
export const endPeers = (): void => native.cleanup();

/** VP8 at a steady rate: frames of four packets, a key frame a second, descriptors that count. */
export class Vp8Source {
  readonly #packet: Buffer;
  #packetsPerSecond: number;
  #sequence = 0;
  #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: { ssrc: number; bytes: number; packetsPerSecond: number }) {
    this.#packet = Buffer.alloc(options.bytes);
    this.#packet.writeUInt32BE(options.ssrc, 8);
    this.#packet.set([0xbe, 0xde, 0, 2, 0x40, 0x30, 0x22, 0, 0, 0, 0, 0], 12);
    this.#packetsPerSecond = options.packetsPerSecond;
  }

  /** Goes on where it was stopped, at another rate if it is said. */
  start(send: (packet: Buffer) => void, packetsPerSecond = this.#packetsPerSecond): void {
    this.#packetsPerSecond = packetsPerSecond;
    this.#startedAt = performance.now() - (this.#sequence / this.#packetsPerSecond) * 1000;
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - this.#startedAt) / 1000) * this.#packetsPerSecond);
      for (; this.#sequence < due; this.#sequence += 1) send(this.#next());
    }, 5);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #next(): Buffer {
    const packet = this.#packet;
    const sequence = this.#sequence;
    const picture = (sequence >> 2) & 0x7fff;
    const isKey = sequence % this.#packetsPerSecond < 4;
    packet.set([0x90, 96, (sequence >> 8) & 0xff, sequence & 0xff]);
    packet.writeUInt32BE(((sequence >> 2) * 3000) >>> 0, 4);
    const start = sequence % 4 === 0 ? 0x90 : 0x80;
    packet.set([start, 0xe0, 0x80 | (picture >> 8), picture & 0xff, picture & 0xff, 0, isKey ? 0 : 1], 24);
    return packet;
  }
}

/** The numbers of the packets that a peer gets from now on. */
export function collectSequences(peer: RtpPeer): { readonly count: number; missing(): number[] } {
  /** From the first one on; some may overtake it. */
  const got = new Set<number>();
  let first: number | undefined;
  peer.onMedia = (packet) => {
    const sequence = packet.readUInt16BE(2);
    first ??= sequence;
    got.add(((sequence - first + 0x8000) & 0xffff) - 0x8000);
  };
  return {
    get count() {
      return got.size;
    },
    missing() {
      const lowest = Math.min(...got);
      const all = Array.from({ length: Math.max(...got) - lowest + 1 }, (_, index) => lowest + index);
      return all.filter((number) => !got.has(number));
    },
  };
}
