/** Child process: sockets spread over several servers, who count the messages that reach them. */
import type { Socket } from 'node:net';
import { clientFrame, seen, upgrade } from './raw-websocket.ts';

export type ListenOrder =
  | { open: { ports: readonly number[]; listeners: readonly Listener[] } }
  /** Counts from now on. */
  | { listen: { mark: string } }
  /** The count once it is as much as expected, or after so long. */
  | { heard: { expected: number; settleMs: number } };

export interface Listener {
  path: string;
  /** What it says after `hello`, and what it is answered with. */
  hello: string;
  greeting: string;
  ready: string;
  /** What it says now and then, so that it does not count as gone; null where that is not needed. */
  ping: string | null;
}

export interface HeardThere {
  heard: number;
  /** Of all that came, heads of frames included. */
  bytes: number;
}

const heartbeatMs = 15_000;
const sockets: Socket[] = [];
let [heard, bytes] = [0, 0];

async function open(port: number, { path, hello, greeting, ready, ping }: Listener): Promise<Socket> {
  const socket = upgrade(port, path);
  await seen(socket, hello);
  const answered = seen(socket, ready);
  socket.write(clientFrame(greeting));
  await answered;
  if (ping !== null) setInterval(() => socket.write(clientFrame(ping)), heartbeatMs).unref();
  return socket;
}

/** Counts marks in a stream, also those that come in two pieces. */
function listen(socket: Socket, mark: Buffer): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    const whole = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let after = 0;
    for (let at = whole.indexOf(mark); at >= 0; at = whole.indexOf(mark, after)) {
      heard += 1;
      after = at + mark.length;
    }
    rest = whole.subarray(Math.max(after, whole.length - mark.length + 1));
  });
}

async function answer(order: ListenOrder): Promise<object> {
  if ('open' in order) {
    const { ports, listeners } = order.open;
    for (const [at, listener] of listeners.entries()) sockets.push(await open(ports[at % ports.length] ?? 0, listener));
    return {};
  }
  if ('listen' in order) {
    [heard, bytes] = [0, 0];
    for (const socket of sockets) listen(socket, Buffer.from(order.listen.mark));
    return {};
  }
  const deadline = performance.now() + order.heard.settleMs;
  while (heard < order.heard.expected && performance.now() < deadline)
    await new Promise((done) => setTimeout(done, 10));
  return { heard, bytes } satisfies HeardThere;
}

process.on('message', (order: ListenOrder) => {
  answer(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
