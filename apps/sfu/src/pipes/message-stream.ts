/** Of one record: with everything around it, it fits a path of 1500 bytes. */
const CHUNK_BYTES = 1100;
const LENGTH_BYTES = 4;
/** Chunks on their way at once. */
const WINDOW = 128;
/** What may wait for the other end; data has half of it, so that it never keeps out what the room stands on. */
const QUEUED_BYTES_MAX = 8 << 20;
const QUEUED_DATA_BYTES_MAX = QUEUED_BYTES_MAX / 2;
const MESSAGE_BYTES_MAX = 4 << 20;
const RESEND_MS_MIN = 60;
const RESEND_MS_MAX = 1000;

interface MessageStreamDeps {
  sendChunk(number: number, bytes: Buffer): void;
  /** Everything before this number has arrived. */
  sendAck(next: number): void;
  message(bytes: Buffer): void;
}

interface Chunk {
  number: number;
  bytes: Buffer;
  sentAt: number;
  waitMs: number;
}

/** Messages in order and without loss over datagrams: numbered chunks, acknowledged, repeated until they are. */
export class MessageStream {
  readonly #deps: MessageStreamDeps;
  /** Sent and not acknowledged, oldest first; then what waits for its turn. */
  #flying: Chunk[] = [];
  #waiting: Buffer[] = [];
  #queuedBytes = 0;
  #nextOut = 0;
  #nextIn = 0;
  #early = new Map<number, Buffer>();
  #partial: Buffer[] = [];
  #partialBytes = 0;
  #isAckDue = false;

  constructor(deps: MessageStreamDeps) {
    this.#deps = deps;
  }

  /** False when too much waits already: the message is not sent. */
  push(message: Buffer, isData: boolean, now: number): boolean {
    const bytesMax = isData ? QUEUED_DATA_BYTES_MAX : QUEUED_BYTES_MAX;
    if (this.#queuedBytes + message.length > bytesMax || message.length > MESSAGE_BYTES_MAX) return false;
    const head = Buffer.alloc(LENGTH_BYTES);
    head.writeUInt32BE(message.length);
    const bytes = Buffer.concat([head, message]);
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) this.#waiting.push(bytes.subarray(at, at + CHUNK_BYTES));
    this.#queuedBytes += bytes.length;
    this.#fill(now);
    return true;
  }

  /** Whether data would be refused. */
  get isCongested(): boolean {
    return this.#queuedBytes > QUEUED_DATA_BYTES_MAX;
  }

  #fill(now: number): void {
    while (this.#flying.length < WINDOW) {
      const bytes = this.#waiting.shift();
      if (!bytes) return;
      const chunk = { number: this.#nextOut++, bytes, sentAt: now, waitMs: RESEND_MS_MIN };
      this.#flying.push(chunk);
      this.#deps.sendChunk(chunk.number, bytes);
    }
  }

  onAck(next: number, now: number): void {
    while (this.#flying[0] && this.#flying[0].number < next)
      this.#queuedBytes -= this.#flying.shift()?.bytes.length ?? 0;
    this.#fill(now);
  }

  onChunk(number: number, bytes: Buffer): void {
    this.#isAckDue = true;
    if (number < this.#nextIn || number >= this.#nextIn + WINDOW) return;
    this.#early.set(number, bytes);
    for (let next = this.#early.get(this.#nextIn); next; next = this.#early.get(this.#nextIn)) {
      this.#early.delete(this.#nextIn++);
      this.#take(next);
    }
  }

  #take(chunk: Buffer): void {
    this.#partial.push(chunk);
    this.#partialBytes += chunk.length;
    const [first] = this.#partial;
    if (!first || this.#partialBytes < LENGTH_BYTES + first.readUInt32BE(0)) return;
    // A message begins with a chunk of its own, so none is left over.
    const message = Buffer.concat(this.#partial).subarray(LENGTH_BYTES);
    this.#partial = [];
    this.#partialBytes = 0;
    this.#deps.message(message);
  }

  /** What was sent so far went nowhere: all of it is due. */
  repeat(): void {
    for (const chunk of this.#flying) chunk.waitMs = 0;
  }

  /** After each datagram. */
  flushAck(): void {
    if (!this.#isAckDue) return;
    this.#isAckDue = false;
    this.#deps.sendAck(this.#nextIn);
  }

  /** Every 20 ms: repeats what was not acknowledged in time. */
  tick(now: number): void {
    for (const chunk of this.#flying) {
      if (now - chunk.sentAt < chunk.waitMs) continue;
      chunk.sentAt = now;
      chunk.waitMs = Math.min(RESEND_MS_MAX, Math.max(RESEND_MS_MIN, chunk.waitMs * 2));
      this.#deps.sendChunk(chunk.number, chunk.bytes);
    }
  }
}
