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
  let waiting: (() => void)[] = [];
  let last: { frames: readonly SocketFrame[]; joined: Buffer } | null = null;

  function flushAll(): void {
    const turn = waiting;
    waiting = [];
    for (const flush of turn) flush();
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

  function onNextTurn(flush: () => void): void {
    if (waiting.length === 0) setImmediate(flushAll);
    waiting.push(flush);
  }

  return {
    createOutbox(socket, onOverflow) {
      // The usual queue is one frame, and an array for it would be most of what this costs.
      let first: SocketFrame | null = null;
      let more: SocketFrame[] = [];
      let bytes = 0;
      let isOpen = true;

      function flush(): void {
        if (first === null) return;
        // One write whatever the number of frames: a system call a frame is what fan-out spends its time on.
        const joined = more.length === 0 ? first : join([first, ...more], bytes);
        forget();
        if (joined.length + socket.writableLength > queuedBytesMax) onOverflow();
        // One that is destroyed already takes it and says nothing; asking first would touch another object a socket.
        else socket.write(joined);
      }

      function forget(): void {
        first = null;
        if (more.length > 0) more = [];
        bytes = 0;
      }

      return {
        write(frame) {
          if (!isOpen) return;
          bytes += frame.length;
          if (first === null) {
            first = frame;
            onNextTurn(flush);
          } else if (bytes <= queuedBytesMax) more.push(frame);
          else {
            forget();
            onOverflow();
          }
        },
        flush,
        drop() {
          isOpen = false;
          forget();
        },
        get queuedBytes() {
          return bytes + socket.writableLength;
        },
        drained: () =>
          new Promise((resolve) => {
            flush();
            if (socket.destroyed || !socket.writableNeedDrain) return resolve();
            function done(): void {
              socket.off('drain', done);
              socket.off('close', done);
              resolve();
            }
            socket.on('drain', done);
            socket.on('close', done);
          }),
      };
    },
  };
}
