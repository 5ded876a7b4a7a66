import type { FrameData, SignalingClientFrames, SignalingServerFrames } from '@parley/contract';
import { DATA_MESSAGE_BYTES_MAX, type DataChannelName, type DataMessage, encodeData } from '@parley/media-description';
import { ApiError } from '../errors.ts';

export interface DataOptions {
  topic?: string;
  /** Identities; left out: all others. */
  to?: string[];
  /** Default true. False: may be lost or overtake, but never waits. */
  reliable?: boolean;
}

export interface DataDeps {
  channel(name: DataChannelName): RTCDataChannel | null;
  /** Until receivers can take reliable data; rejects when one of them cannot. */
  whenReady(): Promise<void> | undefined;
  sendFrame(data: FrameData<SignalingClientFrames['data']>): Promise<unknown>;
}

/** Backpressure: above this lossy messages are dropped, reliable ones wait. */
const BUFFERED_MAX = 1_048_576;

/** Over the data channel; while there is none, as a frame of the signaling socket. */
export async function sendData(
  { channel, whenReady, sendFrame }: DataDeps,
  given: string | Uint8Array,
  { topic, to, reliable = true }: DataOptions,
): Promise<void> {
  const ready = reliable && whenReady();
  // While it waits it is the caller's to change.
  const payload = ready ? given.slice() : given;
  if (ready) await ready;
  const open = channel(reliable ? 'reliable' : 'lossy');
  const isText = typeof payload === 'string';
  const head = { topic: topic || undefined, to };
  if (!open) {
    const body = isText ? { payload } : { payload: toBase64(payload), encoding: 'base64' as const };
    await sendFrame({ ...head, ...body, reliable });
    return;
  }
  const bytes = isText ? new TextEncoder().encode(payload) : payload;
  const message = encodeData({ head: { ...head, text: isText || undefined }, payload: bytes });
  if (message.length > DATA_MESSAGE_BYTES_MAX) throw tooLarge(message.length);
  if (open.bufferedAmount > BUFFERED_MAX) {
    if (!reliable) return;
    await drained(open);
  }
  open.send(message);
}

function drained(channel: RTCDataChannel): Promise<void> {
  return new Promise((resolve) => {
    channel.bufferedAmountLowThreshold = BUFFERED_MAX / 2;
    channel.addEventListener('bufferedamountlow', () => resolve(), { once: true });
    channel.addEventListener('close', () => resolve(), { once: true });
  });
}

/** Of the node, which has checked what is in the head. */
export function readData(bytes: Uint8Array): DataMessage {
  const end = 2 + ((bytes[0] ?? 0) << 8) + (bytes[1] ?? 0);
  return { head: JSON.parse(new TextDecoder().decode(bytes.subarray(2, end))), payload: bytes.subarray(end) };
}

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

/** A payload out of a signaling frame. */
export function payloadOf({ payload, encoding }: FrameData<SignalingServerFrames['data']>): Uint8Array {
  if (encoding !== 'base64') return new TextEncoder().encode(payload);
  return Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
}

const tooLarge = (size: number): ApiError =>
  new ApiError({
    code: 'SVC_PAYLOAD_TOO_LARGE',
    message: `A data message takes ${DATA_MESSAGE_BYTES_MAX} bytes, not ${size}. Send it in pieces.`,
  });
