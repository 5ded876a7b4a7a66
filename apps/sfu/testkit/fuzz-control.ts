import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { signMediaControl } from '@parley/contract/media-control-auth';
import { type MediaCommandName, mediaRequests, parseMediaCommand } from '@parley/contract/media-requests';
import fc from 'fast-check';
import WebSocket from 'ws';
import { HANG_MS } from '../../server/testkit/fuzz/request.ts';
import { anyText, type Hints, nasty, nearObject } from '../../server/testkit/fuzz/values.ts';
import { TEST_SECRET, type TestNode } from './node.ts';
import { everything } from './permissions.ts';

/** Connections are opened again: one that was closed for what it sent says nothing about what comes after. */
const COMMANDS_SAMPLED = 100;
const AT_ONCE = 8;
/** What a node may close a connection with, for what it was sent; its last word may be lost (1006) with what it left unread. */
const CLOSE_CODES = [1002, 1003, 1006, 1007, 1008, 1009];
const ROOM = 'fuzz-room';

interface ControlFuzz {
  kit: TestNode;
  seed: number;
  /** Raw requests before authentication, as many packets to the media port, and frames after it. */
  requests: number;
  frames: number;
  onProgress?(sent: number): void;
}

interface ControlOutcome {
  byStatus: Map<string, number>;
  /** Answers by code; '' for a command that did its work. */
  byCode: Map<string, number>;
  closed: Map<number, number>;
  faults: string[];
}

/** Sends a node what nearly is HTTP, media and commands: on its control port before and after authentication, and by UDP. */
export async function fuzzControlPort({
  kit,
  seed,
  requests,
  frames,
  onProgress,
}: ControlFuzz): Promise<ControlOutcome> {
  const outcome: ControlOutcome = { byStatus: new Map(), byCode: new Map(), closed: new Map(), faults: [] };
  const pids = kit.node.pids().join();
  const isWell = async (after: string): Promise<void> => {
    const health = await fetch(`${kit.node.internalUrl}/healthz`).catch((error: unknown) => String(error));
    const state = health instanceof Response ? String(health.status) : health;
    if (state !== '200' || kit.node.pids().join() !== pids) outcome.faults.push(`not well (${state}) after\n${after}`);
    for (const problem of kit.problems.splice(0)) outcome.faults.push(`${problem}\nafter\n${after}`);
  };

  const knocks = fc.sample(knock, { seed, numRuns: requests });
  for (let first = 0; first < knocks.length; first += AT_ONCE) {
    const group = knocks.slice(first, first + AT_ONCE);
    const statuses = await Promise.all(group.map((bytes) => statusOf(kit, bytes)));
    for (const status of statuses) add(outcome.byStatus, status);
    if (statuses.includes('hangs')) outcome.faults.push(`no answer to one of\n${group.join('\n---\n')}`);
    await isWell(group.join('\n---\n'));
    onProgress?.(first + group.length);
  }
  await sendPackets(kit, fc.sample(fc.uint8Array({ maxLength: 1500 }), { seed, numRuns: requests }));
  await isWell('packets to the media port');

  for (let sent = 0, round = 0; sent < frames; round += 1) {
    const sample = sampleFrames(seed + round);
    sent += await play(kit, sample, outcome);
    await isWell(shorten(sample.commands));
    onProgress?.(requests + sent);
  }
  return outcome;
}

const shorten = (frames: readonly (string | Buffer)[]): string =>
  frames.map((frame) => String(frame).slice(0, 300)).join('\n');

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

const line = fc.oneof(nasty, fc.string({ maxLength: 60 })).map((text) => text.replaceAll(/[\r\n]/g, ' '));
const target = fc.oneof(
  fc.constantFrom('/healthz', '/control', '/control?controller=0123456789abcdef', '//', '*', 'http://[', '/%', ''),
  line,
);
const header = fc.oneof(
  fc.constantFrom('Accept: */*', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'),
  fc.constantFrom('Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', 'Sec-WebSocket-Version: 99', 'Content-Length: 5'),
  fc.constantFrom('Origin: null', 'Expect: 100-continue', 'Transfer-Encoding: chunked', 'Authorization: Bearer v1'),
  fc
    .tuple(fc.constantFrom('Authorization', 'Host', 'X', 'Upgrade', 'Sec-WebSocket-Extensions'), line)
    .map((pair) => pair.join(': ')),
);
/** The bytes of a connection that has not said who it is. */
const knock: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        fc.constantFrom('GET', 'GET', 'GET', 'POST', 'CONNECT', 'PRI', 'x'),
        target,
        fc.array(header, { maxLength: 8 }),
      )
      .map(
        ([method, path, headers]) => `${[`${method} ${path} HTTP/1.1`, 'Host: node', ...headers].join('\r\n')}\r\n\r\n`,
      ),
  },
  { weight: 1, arbitrary: anyText(300) },
);

/** The first line of what comes back; 'closed' when nothing does. */
function statusOf(kit: TestNode, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(Number(new URL(kit.node.internalUrl).port), '127.0.0.1', () => socket.end(bytes, 'latin1'));
    socket.setTimeout(HANG_MS, () => {
      resolve('hangs');
      socket.destroy();
    });
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'closed'));
  });
}

async function sendPackets(kit: TestNode, packets: readonly Uint8Array[]): Promise<void> {
  const socket = createSocket('udp4');
  for (const packet of packets)
    await new Promise((resolve) => socket.send(packet, kit.config.udpPort, '127.0.0.1', resolve));
  socket.close();
}

const hints: Hints = { room: ROOM, participant: 'ps_ada', identity: 'ada', to: 'ada', payload: 'hi' };
let numbered = 0;
const command = fc
  .constantFrom(...(Object.keys(mediaRequests) as MediaCommandName[]))
  .chain((type) => nearObject(mediaRequests[type], hints).map((data) => ({ id: ++numbered, type, data })));
/** What is no command, and ends the connection. */
const nonsense: fc.Arbitrary<string | Buffer> = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc.constantFrom('{', '5', 'null', '[]', '['.repeat(5000), 'x'.repeat(70_000), Buffer.from([1, 2])),
);

interface Said {
  commands: string[];
  /** Said once all of them are answered. */
  last: string | Buffer;
}

/** Commands that fit their rows, half as many that nearly do, and what is no command. */
function sampleFrames(seed: number): Said {
  const commands = fc.sample(command, { seed, numRuns: COMMANDS_SAMPLED }).map((value) => JSON.stringify(value));
  const fits = (text: string): boolean => (parseMediaCommand(text)?.type ?? null) !== null;
  const [good, bad] = [commands.filter(fits), commands.filter((text) => !fits(text))];
  const [last = '5'] = fc.sample(nonsense, { seed, numRuns: 1 });
  return { commands: [open, join, ...good, ...bad.slice(0, good.length / 2)], last };
}

const open = JSON.stringify({ id: -1, type: 'room.open', data: { room: ROOM } });
const join = JSON.stringify({
  id: -2,
  type: 'participant.add',
  data: { room: ROOM, participant: 'ps_ada', identity: 'ada', permissions: everything, autoSubscribe: true },
});
/** Says it all; gives how many commands were answered: every one, once, and none with INTERNAL. */
async function play(kit: TestNode, { commands, last }: Said, outcome: ControlOutcome): Promise<number> {
  const authorization = `Bearer ${await signMediaControl(TEST_SECRET, kit.config.name, Date.now(), crypto.randomUUID())}`;
  const url = `${kit.node.internalUrl.replace('http', 'ws')}/control?controller=${crypto.randomUUID()}`;
  const socket = new WebSocket(url, { headers: { authorization } });
  const answered = new Set<number>();
  const blame = (what: string): void => void outcome.faults.push(`${what}\nafter\n${shorten([...commands, last])}`);
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();
  const timer = setTimeout(() => {
    blame(`${answered.size} of ${commands.length} commands answered`);
    socket.terminate();
  }, HANG_MS);
  socket.on('error', () => {});
  socket.on('close', end);
  socket.on('open', () => {
    for (const one of commands) socket.send(one);
  });
  socket.on('message', (bytes) => {
    const { ref, error } = JSON.parse(String(bytes)) as { ref?: number; error?: { code: string } };
    if (ref === undefined) return;
    if (answered.has(ref)) blame(`answered twice: ${ref}`);
    answered.add(ref);
    add(outcome.byCode, error?.code ?? '');
    if (error?.code === 'INTERNAL') blame(`INTERNAL to ${ref}`);
    if (answered.size === commands.length) socket.send(last);
  });
  const code = await ended;
  clearTimeout(timer);
  add(outcome.closed, code);
  if (!CLOSE_CODES.includes(code)) blame(`closed with ${code}`);
  return answered.size;
}
