import { connect, type Socket } from 'node:net';

/** Child process: keeps a number of HTTP connections busy with one request each at a time, and counts. */
export interface Load {
  /** Several are taken in turns, each connection staying with its own. */
  port: number | number[];
  method: 'GET' | 'POST';
  /** Taken in turns. */
  paths: string[];
  headers: Record<string, string>;
  /** Sent as it is, with `%d` replaced by a number that was not used before; several are taken in turns. */
  body?: string | string[];
  connections: number;
  ms: number;
}

export interface LoadResult {
  answers: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Answers that were not 2xx. */
  failures: number;
  lastFailure: string;
}

const headEnd = Buffer.from('\r\n\r\n');
let serial = Date.now() * 1000;

function requestOf({ method, paths, headers, body }: Load): Buffer {
  const number = serial++;
  const chosen = Array.isArray(body) ? body[number % body.length] : body;
  const text = chosen?.replace('%d', String(number)) ?? '';
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}`);
  if (body !== undefined) lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(text)}`);
  return Buffer.from(`${method} ${paths[number % paths.length]} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${text}`);
}

/** One connection: asks, reads the whole answer, asks again. */
function keepBusy(
  load: Load,
  port: number,
  onAnswer: (ms: number, failure: string | null) => boolean,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    let [started, received] = [0, Buffer.alloc(0)];
    let expected = -1;
    const ask = (): void => {
      started = performance.now();
      socket.write(requestOf(load));
    };
    const socket = connect(port, '127.0.0.1', ask);
    socket.setNoDelay(true);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      if (expected < 0) expected = lengthOf(received);
      if (expected < 0 || received.length < expected) return;
      const isGood = received[9] === 0x32;
      const failure = isGood ? null : received.toString('latin1').slice(0, 1000);
      [received, expected] = [Buffer.alloc(0), -1];
      if (onAnswer(performance.now() - started, failure)) ask();
      else resolve(socket);
    });
  });
}

/** Of the whole answer, or -1 while its head is not there. */
function lengthOf(bytes: Buffer): number {
  const end = bytes.indexOf(headEnd);
  if (end < 0) return -1;
  const length = /content-length: (\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1];
  return end + headEnd.length + Number(length ?? 0);
}

async function run(load: Load): Promise<LoadResult> {
  const times: number[] = [];
  let [failures, lastFailure] = [0, ''];
  const started = performance.now();
  const onAnswer = (ms: number, failure: string | null): boolean => {
    times.push(ms);
    if (failure !== null) [failures, lastFailure] = [failures + 1, failure];
    return performance.now() - started < load.ms;
  };
  const ports = [load.port].flat();
  const sockets = await Promise.all(
    Array.from({ length: load.connections }, (_, at) => keepBusy(load, ports[at % ports.length] ?? 0, onAnswer)),
  );
  const perSecond = (times.length / (performance.now() - started)) * 1000;
  for (const socket of sockets) socket.destroy();
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? 0;
  return { answers: times.length, perSecond, p50Ms: at(0.5), p99Ms: at(0.99), failures, lastFailure };
}

process.on('message', (load: Load) => {
  run(load).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
