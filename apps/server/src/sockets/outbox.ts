import type { Duplex } from 'node:stream';
import type { SocketFrame } from '../core/socket.ts';

/** More unsent bytes than this and the reader is too slow to keep. */
export const queuedBytesMax = 1024 * 1024;

/** What one socket still has to get. */
export interface Outbox {
  write(frame: SocketFrame): void;
  /** Hands everything queued to the network now, before something that bypasses the queue. */
  flush(): void;
  /** Discards the queue and accepts nothing more. */
  drop(): void;
  /** Bytes that have not left this process. */
  readonly queuedBytes: number;
  /** Resolves when the queue is flushed or discarded. */
  drained(): Promise<void>;
}

/** Flushes every socket that has something to say, once per event-loop turn. */
interface Flusher {
  createOutbox(socket: Duplex, onOverflow: () => void): Outbox;
}

export function createFlusher(): Flusher {
  let waiting: SocketOutbox[] = [];
  let last: { frames: readonly SocketFrame[]; joined: Buffer } | null = null;

  function flushAll(): void {
    const turn = waiting;
    waiting = [];
    for (const outbox of turn) outbox.flush();
    last = null;
  }

  /** Subscribers of one conversation have the same frames queued: the copy is made once for all of them. */
  function join(frames: readonly SocketFrame[], bytes: number): Buffer {
    const known = last;
    if (known?.frames.length === frames.length && frames.every((frame, at) => frame === known.frames[at])) {
      return known.joined;
    }
    last = { frames, joined: Buffer.concat(frames, bytes) };
    return last.joined;
  }

  function onNextTurn(outbox: SocketOutbox): void {
    if (waiting.length === 0) setImmediate(flushAll);
    waiting.push(outbox);
  }

  const shared: Turn = { join, onNextTurn };
  return { createOutbox: (socket, onOverflow) => new SocketOutbox(socket, onOverflow, shared) };
}

/** What the outboxes of a process share. */
interface Turn {
  join(frames: readonly SocketFrame[], bytes: number): Buffer;
  onNextTurn(outbox: SocketOutbox): void;
}

/** A class: of ten thousand idle sockets each has one, and a closure for each function is most of what it takes (ADR 175). */
class SocketOutbox implements Outbox {
  readonly #socket: Duplex;
  readonly #onOverflow: () => void;
  readonly #turn: Turn;
  // The usual queue is one frame, and an array for it would be most of what this costs.
  #first: SocketFrame | null = null;
  #more: SocketFrame[] | null = null;
  #bytes = 0;
  #isOpen = true;

  constructor(socket: Duplex, onOverflow: () => void, turn: Turn) {
    this.#socket = socket;
    this.#onOverflow = onOverflow;
    this.#turn = turn;
  }

  write(frame: SocketFrame): void {
    if (!this.#isOpen) return;
    this.#bytes += frame.length;
    if (this.#first === null) {
      this.#first = frame;
      this.#turn.onNextTurn(this);
    } else if (this.#bytes <= queuedBytesMax) {
      this.#more ??= [];
      this.#more.push(frame);
    } else {
      this.#forget();
      this.#onOverflow();
    }
  }

  flush(): void {
    const first = this.#first;
    if (first === null) return;
    // One write whatever the number of frames: a system call a frame is what fan-out spends its time on.
    const joined = this.#more === null ? first : this.#turn.join([first, ...this.#more], this.#bytes);
    this.#forget();
    if (joined.length + this.#socket.writableLength > queuedBytesMax) this.#onOverflow();
    // One that is destroyed already takes it and says nothing; asking first would touch another object a socket.
    else this.#socket.write(joined);
  }

  #forget(): void {
    this.#first = null;
    this.#more = null;
    this.#bytes = 0;
  }

  drop(): void {
    this.#isOpen = false;
    this.#forget();
  }

  get queuedBytes(): number {
    return this.#bytes + this.#socket.writableLength;
  }

  drained(): Promise<void> {
    const socket = this.#socket;
    return new Promise((resolve) => {
      this.flush();
      if (socket.destroyed || !socket.writableNeedDrain) return resolve();
      function done(): void {
        socket.off('drain', done);
        socket.off('close', done);
        resolve();
      }
      socket.on('drain', done);
      socket.on('close', done);
    });
  }
}
