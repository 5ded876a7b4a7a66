/** Child process: sockets in one conversation that count frames; the first one sends, a message at a time. */
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
      };
    }
  | { run: { send: string; framesPerMessage: number; ms: number } }
  | { close: true };

export interface FanOut {
  messages: number;
  seconds: number;
  /** Of one frame to a reader, with its head. */
  frameBytes: number;
}

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
      frameBytes = Math.max(frameBytes, size);
      bytes = bytes.subarray(size);
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
    const { port, paths, greeting, ready } = order.open;
    for (let at = 0; at < paths.length; at += 50)
      sockets.push(
        ...(await Promise.all(paths.slice(at, at + 50).map((path) => openOne(port, path, greeting, ready)))),
      );
    return { opened: sockets.length };
  }
  if ('run' in order) return run(order.run);
  for (const socket of sockets) socket.destroy();
  sockets = [];
  return {};
}

async function run({ send, framesPerMessage, ms }: Extract<ReaderOrder, { run: object }>['run']): Promise<FanOut> {
  const start = performance.now();
  const frame = clientFrame(send);
  let messages = 0;
  frameBytes = 0;
  while (performance.now() - start < ms) {
    [frames, wanted] = [0, framesPerMessage];
    const all = new Promise<void>((resolve) => {
      onAll = resolve;
    });
    sockets[0]?.write(frame);
    await all;
    messages += 1;
  }
  return { messages, seconds: (performance.now() - start) / 1000, frameBytes };
}

process.on('message', (order: ReaderOrder) => {
  answer(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
