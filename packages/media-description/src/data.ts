/**
 * How a message travels on a data channel: two bytes length of the head, the head as JSON, then the payload as it is.
 * Channel ids and labels are fixed, so that both ends make them without asking (`negotiated: true`).
 */
export const DATA_CHANNELS = {
  reliable: { id: 0, ordered: true },
  lossy: { id: 1, ordered: false, maxRetransmits: 0 },
} as const;
export type DataChannelName = keyof typeof DATA_CHANNELS;

/**
 * What the node says on the reliable channel of a sender, as a message with an empty head (two zeros, then one of these):
 * its receivers can take reliable data again; they cannot now; or they can but for one that missed some, or will.
 * Clients from before read no message in it.
 */
export const DATA_FLOW = { open: 0, held: 1, missed: 2 } as const;
export type DataFlowState = (typeof DATA_FLOW)[keyof typeof DATA_FLOW];

export const encodeDataFlow = (state: DataFlowState): Uint8Array<ArrayBuffer> => new Uint8Array([0, 0, state]);

export interface DataHead {
  topic?: string;
  /** To the node: the recipients; left out: all others in the room. */
  to?: string[];
  /** From the node: the sender's identity; null when the server speaks. */
  from?: string | null;
  /** From the node: ISO 8601. */
  at?: string;
  /** The payload is text. */
  text?: boolean;
}

export interface DataMessage {
  head: DataHead;
  payload: Uint8Array;
}

const HEAD_BYTES_MAX = 16_384;
const TOPIC_LENGTH_MAX = 64;
const RECIPIENTS_MAX = 100;

export function encodeData({ head, payload }: DataMessage): Uint8Array<ArrayBuffer> {
  const headBytes = new TextEncoder().encode(JSON.stringify(head));
  if (headBytes.length > HEAD_BYTES_MAX) throw new Error(`The head of a data message exceeds ${HEAD_BYTES_MAX} bytes.`);
  const message = new Uint8Array(2 + headBytes.length + payload.length);
  message[0] = headBytes.length >> 8;
  message[1] = headBytes.length & 0xff;
  message.set(headBytes, 2);
  message.set(payload, 2 + headBytes.length);
  return message;
}

/** Undefined when the bytes are not a message of ours. The payload is a view of `bytes`. */
export function decodeData(bytes: Uint8Array): DataMessage | undefined {
  const length = ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0);
  if (bytes.length < 2 + length || length < 2 || length > HEAD_BYTES_MAX) return undefined;
  const head = parseHead(bytes.subarray(2, 2 + length));
  return head && { head, payload: bytes.subarray(2 + length) };
}

function parseHead(bytes: Uint8Array): DataHead | undefined {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  // Field by field below; anything else in the object is dropped.
  const { topic, to, from, at, text } = value as Record<string, unknown>;
  const head: DataHead = {};
  if (topic !== undefined) {
    if (typeof topic !== 'string' || topic.length > TOPIC_LENGTH_MAX) return undefined;
    head.topic = topic;
  }
  if (to !== undefined) {
    if (!Array.isArray(to) || to.length > RECIPIENTS_MAX || !to.every((one) => typeof one === 'string'))
      return undefined;
    head.to = to;
  }
  if (typeof from === 'string' || from === null) head.from = from;
  if (typeof at === 'string') head.at = at;
  if (text === true) head.text = true;
  return head;
}
