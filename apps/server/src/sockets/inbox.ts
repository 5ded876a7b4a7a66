import type { WebSocket } from 'ws';
import { FixedWindow } from '../core/fixed-window.ts';
import { wholeSeconds } from '../core/rate-limiter.ts';
import type { RawFrame } from './frame-reader.ts';
import { type Outbox, queuedBytesMax } from './outbox.ts';

interface InboxDeps {
  ws: WebSocket;
  outbox: Outbox;
  /** Frames a window; null for no limit. */
  frameBudget: number | null;
  windowMs: number;
  /** Must not throw. */
  handle(frame: RawFrame): Promise<void>;
}

/** What became of a frame: queued, or over the budget, which warns once, then ignores, then closes. */
type Admission = { is: 'queued' | 'ignored' } | { is: 'warn' | 'close'; retryAfterSeconds: number };

export interface Inbox {
  push(frame: RawFrame, now: number): Admission;
  /** Frames that come while this runs wait until it is done. */
  runFirst(work: Promise<void>): void;
  clear(): void;
}

/** Frames read ahead of the one being handled; more stay in the network. */
const framesMax = 32;
/** Frames over budget that are ignored before the connection is closed. */
const strikesMax = 20;

/** Handles one frame after the other: a client's own order is kept, and its work is bounded. */
export function createInbox({ ws, outbox, frameBudget, windowMs, handle }: InboxDeps): Inbox {
  const frames: RawFrame[] = [];
  const window = new FixedWindow(windowMs);
  let isWorking = false;

  async function work(): Promise<void> {
    isWorking = true;
    for (let frame = frames.shift(); frame; frame = frames.shift()) {
      if (ws.isPaused && frames.length < framesMax / 2) ws.resume();
      // Backpressure: answers to a client's own requests must not make it a slow consumer.
      if (outbox.queuedBytes > queuedBytesMax / 2) await outbox.drained();
      await handle(frame);
    }
    isWorking = false;
  }

  return {
    push(frame, now) {
      const excess = frameBudget === null ? 0 : window.use(now) - frameBudget;
      if (excess > 0) {
        if (excess > 1 && excess <= strikesMax) return { is: 'ignored' };
        return { is: excess === 1 ? 'warn' : 'close', retryAfterSeconds: wholeSeconds(window.remainingMs(now)) };
      }
      frames.push(frame);
      if (frames.length >= framesMax) ws.pause();
      if (!isWorking) void work();
      return { is: 'queued' };
    },
    runFirst(first) {
      isWorking = true;
      void first.then(work);
    },
    clear() {
      frames.length = 0;
      // A paused reader would never see the client's half of the closing handshake.
      if (ws.isPaused) ws.resume();
    },
  };
}
