import { RTP_HEADER_BYTES, type RtpView } from './rtp.ts';

/** Bytes before the payload for the original sequence number (RFC 4588 4). */
export const OSN_BYTES = 2;

/**
 * Makes a retransmission the packet of another stream that it repeats, in its own bytes: the header moves up over the
 * number in front of the payload. False when it repeats none, as the padding with which browsers probe their path.
 */
export function unwrapRtx(view: RtpView, ssrc: number, payloadType: number): boolean {
  const { payloadStart } = view;
  if (view.payloadEnd - payloadStart < OSN_BYTES) return false;
  const sequence = view.buffer.readUInt16BE(payloadStart);
  view.buffer.copyWithin(OSN_BYTES, 0, payloadStart);
  const buffer = view.buffer.subarray(OSN_BYTES);
  buffer[1] = (view.marker ? 0x80 : 0) | payloadType;
  buffer.writeUInt16BE(sequence, 2);
  buffer.writeUInt32BE(ssrc, RTP_HEADER_BYTES - 4);
  view.buffer = buffer;
  view.payloadType = payloadType;
  view.sequence = sequence;
  view.ssrc = ssrc;
  view.payloadEnd -= OSN_BYTES;
  return true;
}

/** Which streams of a publisher the RTX streams repeat: one for each at most, whatever comes. */
export class RtxStreams<Stream extends object> {
  readonly #streams = new Map<number, Stream>();
  readonly #ssrcs = new Map<Stream, number>();

  get(ssrc: number): Stream | undefined {
    return this.#streams.get(ssrc);
  }

  repairs(stream: Stream): boolean {
    return this.#ssrcs.has(stream);
  }

  /** In place of the one before. */
  bind(ssrc: number, stream: Stream): void {
    const before = this.#streams.get(ssrc);
    if (before) this.forget(before);
    this.forget(stream);
    this.#streams.set(ssrc, stream);
    this.#ssrcs.set(stream, ssrc);
  }

  forget(stream: Stream): void {
    const ssrc = this.#ssrcs.get(stream);
    if (ssrc === undefined) return;
    this.#ssrcs.delete(stream);
    this.#streams.delete(ssrc);
  }

  clear(): void {
    this.#streams.clear();
    this.#ssrcs.clear();
  }
}
