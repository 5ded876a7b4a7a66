import { readRtcp } from '../src/media/rtcp.ts';
import { type PacketInit, paddingPacket, rtpPacket, rtxPacket, vp8Payload } from './packets.ts';
import { RTX_PAYLOAD_TYPE, type RtpPeer } from './rtp-peer.ts';

const FRAME_MS = 20;
const FRAME_PACKETS = 2;

/** VP8 as a browser sends it: a key frame when it is asked for, what is asked for again, padding that probes. */
export class RepeatingSource {
  readonly #peer: RtpPeer;
  readonly #ssrc: number;
  readonly #rtxSsrc: number | undefined;
  readonly #sent = new Map<number, PacketInit>();
  #sequence = 0;
  #rtxSequence = 0;
  #isKeyFrameDue = true;
  #timer: NodeJS.Timeout | undefined;
  /** Of its packets each so-many-th is lost at first; 0: none. */
  losesEach = 0;
  /** Packets of padding behind each picture, of which every other one is lost. */
  padding = 0;
  /** Of what was lost, what nobody repeats: padding within the video. */
  lostForGood = 0;
  frames = 0;
  repeated = 0;
  keyFrameRequests = 0;

  constructor(peer: RtpPeer, ssrc: number, rtxSsrc?: number) {
    this.#peer = peer;
    this.#ssrc = ssrc;
    this.#rtxSsrc = rtxSsrc;
    peer.onRtcp = (packet) =>
      readRtcp(packet, {
        nack: (_, sequences) => {
          for (const sequence of sequences) this.#repeat(sequence);
        },
        keyFrameRequest: () => {
          this.keyFrameRequests += 1;
          this.#isKeyFrameDue = true;
        },
      });
  }

  /** Never faster, also when the process stood still: what was asked for meanwhile comes first. */
  start(): void {
    this.#timer = setInterval(() => this.#sendFrame(), FRAME_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sendFrame(): void {
    this.frames += 1;
    const timestamp = this.frames * 1800;
    const payload = vp8Payload(this.frames & 0x7fff, this.frames & 0xff, this.#isKeyFrameDue);
    this.#isKeyFrameDue = false;
    for (let index = 0; index < FRAME_PACKETS; index += 1) {
      const marker = index === FRAME_PACKETS - 1;
      // Only the first one begins the picture.
      if (index > 0) payload[0] = 0x80;
      const packet = { sequence: this.#nextSequence(), timestamp, ssrc: this.#ssrc, marker, payload: payload.slice() };
      this.#sent.set(packet.sequence, packet);
      if (this.losesEach === 0 || packet.sequence % this.losesEach !== 0) this.#peer.send(rtpPacket(packet));
    }
    // The last one comes: behind it is the next picture.
    for (let index = 1; index <= this.padding; index += 1) this.#pad(timestamp, (this.padding - index) % 2 === 1);
  }

  #pad(timestamp: number, isLost: boolean): void {
    const own = this.#rtx() ?? { sequence: this.#nextSequence(), ssrc: this.#ssrc };
    if (!isLost) this.#peer.send(paddingPacket({ ...own, timestamp }));
    else if (this.#rtxSsrc === undefined) this.lostForGood += 1;
  }

  #repeat(sequence: number): void {
    const packet = this.#sent.get(sequence);
    if (!packet) return;
    const rtx = this.#rtx();
    this.#peer.send(rtx ? rtxPacket(packet, rtx) : rtpPacket(packet));
    this.repeated += 1;
  }

  #nextSequence(): number {
    this.#sequence = (this.#sequence + 1) & 0xffff;
    return this.#sequence;
  }

  #rtx() {
    if (this.#rtxSsrc === undefined) return undefined;
    this.#rtxSequence = (this.#rtxSequence + 1) & 0xffff;
    return { sequence: this.#rtxSequence, ssrc: this.#rtxSsrc, payloadType: RTX_PAYLOAD_TYPE };
  }
}
