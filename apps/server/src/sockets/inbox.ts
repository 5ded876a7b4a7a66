import type { WebSocket } from 'ws';
import type { RawFrame } from './frame-reader.ts';
import { type Outbox, queuedBytesMax } from './outbox.ts';

export interface InboxDeps {
  ws: WebSocket;
  outbox: Outbox;
  /** Must not throw. */
  handle(frame: RawFrame): Promise<void>;
}

export interface Inbox {
  push(frame: RawFrame): void;
  /** Frames that come while this runs wait until it is done. */
  runFirst(work: Promise<void>): void;
  clear(): void;
}

/** Frames read ahead of the one being handled; more stay in the network. */
const framesMax = 32;

/** Handles one frame after the other: a client's own order is kept, and its work is bounded. */
export function createInbox({ ws, outbox, handle }: InboxDeps): Inbox {
  const frames: RawFrame[] = [];
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
    push(frame) {
      frames.push(frame);
      if (frames.length >= framesMax) ws.pause();
      if (!isWorking) void work();
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
