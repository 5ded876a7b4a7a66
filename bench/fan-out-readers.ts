/** Child process: sockets in one conversation that count frames; the first one sends, a message at a time or at a rate. */
import type { Socket } from 'node:net';
import { clientFrame, upgrade } from './raw-websocket.ts';

export type ReaderOrder =
  | {
      open: {
        port: number;
        paths: readonly string[];
        /** What each says once it is upgraded, and what it is answered with. */
        greeting: string | null;
        ready: string;
        /** What each says every 15 s, so that it does not count as gone; null where that would be a message. */
        ping: string | null;
      };
    }
  | {
      run: {
        send: string;
        framesPerMessage: number;
        ms: number;
        /** Null: the next is sent when everybody has the last. */
        perSecond: number | null;
      };
    }
  | { close: true };

export interface FanOut {
  messages: number;
  seconds: number;
  /** Of one frame to a reader, with its head. */
  frameBytes: number;
  /** How often the readers went to sleep, for a frame: who sleeps often must be woken often, by the server. */
  switchesPerFrame: number;
}

type Run = Extract<ReaderOrder, { run: object }>['run'];

/** Answers to heartbeats are shorter than any message, and are not counted. */
const messageBytesMin = 100;
const heartbeatMs = 15_000;
const headersEnd = '\r\n\r\n';
let sockets: Socket[] = [];
let [frames, wanted, frameBytes] = [0, Number.POSITIVE_INFINITY, 0];
let onAll: () => void = () => undefined;

/** Counts whole frames of what a server writes: no mask, less than 64 KiB each. */
function countFrames(socket: Socket): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let size = sizeOf(bytes); size !== null && bytes.length >= size; size = sizeOf(bytes)) {
      bytes = bytes.subarray(size);
      if (size < messageBytesMin) continue;
      // The first one is answered too, in a frame of another length.
      if (socket !== sockets[0]) frameBytes = Math.max(frameBytes, size);
      frames += 1;
      if (frames === wanted) onAll();
    }
    rest = bytes;
  });
}

function sizeOf(bytes: Buffer): number | null {
  if (bytes.length < 4) return null;
  const length = (bytes[1] ?? 0) & 127;
  return length < 126 ? length + 2 : bytes.readUInt16BE(2) + 4;
}

function openOne(port: number, path: string, greeting: string | null, ready: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = upgrade(port, path);
    let text = '';
    let isGreeted = greeting === null;
    socket.on('error', reject);
    socket.on('data', function settle(chunk: Buffer) {
      text += chunk.toString('latin1');
      if (!text.includes(headersEnd)) return;
      if (!isGreeted && greeting !== null) {
        isGreeted = true;
        socket.write(clientFrame(greeting));
      }
      if (!text.includes(ready)) return;
      socket.off('data', settle);
      countFrames(socket);
      resolve(socket);
    });
  });
}

async function answer(order: ReaderOrder): Promise<object> {
  if ('open' in order) {
    const { port, paths, greeting, ready, ping } = order.open;
    for (let at = 0; at < paths.length; at += 50)
      sockets.push(
        ...(await Promise.all(paths.slice(at, at + 50).map((path) => openOne(port, path, greeting, ready)))),
      );
    if (ping !== null) keepAlive(clientFrame(ping));
    return { opened: sockets.length };
  }
  if ('run' in order) return run(order.run);
  for (const socket of sockets) socket.destroy();
  sockets = [];
  return {};
}

/** One after the other, so that no run has all of them at once. */
function keepAlive(ping: Buffer): void {
  let at = 0;
  setInterval(() => sockets[at++ % sockets.length]?.write(ping), heartbeatMs / sockets.length).unref();
}

async function run({ send, framesPerMessage, ms, perSecond }: Run): Promise<FanOut> {
  const before = process.resourceUsage().voluntaryContextSwitches;
  const start = performance.now();
  frameBytes = 0;
  const go = perSecond === null ? oneAtATime : atRate(perSecond);
  const messages = await go(clientFrame(send), framesPerMessage, start + ms);
  const switches = process.resourceUsage().voluntaryContextSwitches - before;
  return {
    messages,
    seconds: (performance.now() - start) / 1000,
    frameBytes,
    switchesPerFrame: switches / (messages * framesPerMessage),
  };
}

type Go = (frame: Buffer, framesPerMessage: number, until: number) => Promise<number>;

const oneAtATime: Go = async (frame, framesPerMessage, until) => {
  let messages = 0;
  while (performance.now() < until) {
    const all = framesCome(framesPerMessage);
    sockets[0]?.write(frame);
    await all;
    messages += 1;
  }
  return messages;
};

/** Waits for nothing in between. */
const atRate =
  (perSecond: number): Go =>
  async (frame, framesPerMessage, until) => {
    const start = performance.now();
    const total = Math.floor(((until - start) / 1000) * perSecond);
    const all = framesCome(total * framesPerMessage);
    for (let sent = 0; sent < total; sent++) {
      const dueMs = start + (sent * 1000) / perSecond - performance.now();
      if (dueMs > 0) await new Promise((resolve) => setTimeout(resolve, dueMs));
      sockets[0]?.write(frame);
    }
    await all;
    return total;
  };

/** Resolves when as many have come from now on. */
function framesCome(count: number): Promise<void> {
  [frames, wanted] = [0, count];
  return new Promise((resolve) => {
    onAll = resolve;
  });
}

process.on('message', (order: ReaderOrder) => {
  answer(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
