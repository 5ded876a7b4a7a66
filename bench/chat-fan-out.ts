import { rm } from 'node:fs/promises';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { addMembers, adminUrl, startStage, tokensOf } from './chat-stage.ts';
import { type Child, startChild } from './children.ts';
import { type Cpu, cpuOf, cpuText, perUnit, type Spent, totalOf } from './cpu-usage.ts';
import type { FanOut } from './fan-out-readers.ts';
import { figure, middleBy, type Row, thousands } from './ratio.ts';

const listeners = 500;
const runMs = 4_000;
const warmUpMs = 3_000;
const rounds = 3;
/** Messages a second that each side carries easily: readers of all of them sleep alike. */
const evenRate = 50;
const text = 'x'.repeat(200);

/** A server with everybody in one conversation, and how a message is sent to it. */
interface Side {
  server: Child;
  readers: Child;
  send: string;
  framesPerMessage: number;
}

/** Of a delivery, in one run. */
interface Took {
  cpu: Cpu;
  switches: number;
  frameBytes: number;
}

type Name = 'ours' | 'bare' | 'io';
type Best = Record<Name, Took>;

/** One message at a time to everybody in a large conversation, through the whole product. */
export async function rows(): Promise<Row[]> {
  const database = await openTestDatabase({ url: adminUrl });
  const dataDir = await newDataDir();
  const children: Child[] = [];
  const child = (file: string): Child => {
    const made = startChild(file);
    children.push(made);
    return made;
  };

  async function ours(): Promise<Side> {
    const env = { DATABASE_URL: database.url ?? '', CHAT_SEND_RATE_LIMIT: '100000000' };
    const stage = await startStage({ dataDir, env, conversations: 1, users: 1 });
    children.push(stage.child);
    const [room = ''] = stage.rooms;
    const users = Array.from({ length: listeners }, (_, at) => `user-${at}`);
    await addMembers(database, room, users);
    const greeting = JSON.stringify({ type: 'subscribe', id: 's', conversations: [{ ref: room, presence: false }] });
    const paths = tokensOf(stage, users).map((token) => `/v1/chat/ws?token=${token}`);
    const readers = child('./fan-out-readers.ts');
    const ready = '"conversations":[{';
    await readers.ask({ open: { port: stage.port, paths, greeting, ready, ping: '{"type":"ping"}' } });
    const send = JSON.stringify({ type: 'message.send', id: 'm', conversation: room, text });
    // Everybody gets the message, the sender its answer too.
    return { server: stage.child, readers, send, framesPerMessage: listeners + 1 };
  }

  async function peer(start: 'bare' | 'socket.io', frameBytes: number): Promise<Side> {
    const server = child('./fan-out-peers.ts');
    const { port } = await server.ask<{ port: number }>({ start, frameBytes });
    const readers = child('./fan-out-readers.ts');
    const isBare = start === 'bare';
    const path = isBare ? '/' : '/socket.io/?EIO=4&transport=websocket';
    const greeting = isBare ? null : '40';
    const ready = isBare ? 'ready' : '40{"sid"';
    // Neither closes a socket that is silent.
    await readers.ask({ open: { port, paths: Array(listeners).fill(path), greeting, ready, ping: null } });
    return { server, readers, send: '42["send"]', framesPerMessage: listeners };
  }

  try {
    const product = await ours();
    const { frameBytes } = await run(product, warmUpMs, null);
    const sides = { ours: product, bare: await peer('bare', frameBytes), io: await peer('socket.io', frameBytes) };
    for (const side of [sides.bare, sides.io]) await run(side, warmUpMs, null);
    const atATime = await measure(sides, null, cheapest);
    const evenly = await measure(sides, evenRate, (runs) => middleBy(runs, cost));
    return [...rowsAtATime(atATime), evenRow(evenly)];
  } finally {
    for (const made of children) await made.stop();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const cost = ({ cpu }: Took): number => totalOf(cpu);

/** What disturbs a run makes it worse. */
const cheapest = (runs: readonly Took[]): Took => runs.reduce((best, took) => (cost(took) < cost(best) ? took : best));

/** The sides in turns; one run of each, whole: its figures belong together. */
async function measure(
  sides: Record<Name, Side>,
  perSecond: number | null,
  choose: (runs: readonly Took[]) => Took,
): Promise<Best> {
  const runs: Record<Name, Took[]> = { ours: [], bare: [], io: [] };
  for (let round = 0; round < rounds; round++) {
    for (const name of ['ours', 'bare', 'io'] as const) runs[name].push(await run(sides[name], runMs, perSecond));
  }
  return { ours: choose(runs.ours), bare: choose(runs.bare), io: choose(runs.io) };
}

async function run({ server, readers, send, framesPerMessage }: Side, ms: number, perSecond: number | null) {
  await server.ask({ order: 'watch' });
  const fanOut = await readers.ask<FanOut>({ run: { send, framesPerMessage, ms, perSecond } });
  const spent = await server.ask<Spent>({ order: 'watched' });
  const { messages, frameBytes, switchesPerFrame: switches } = fanOut;
  return { frameBytes, switches, cpu: perUnit(cpuOf(spent), messages * listeners) };
}

const tookText = ({ cpu, switches }: Took): string =>
  `${cpuText(cpu, 1)}, readers sleep ${figure(switches)} times a frame`;
const allText = ({ ours, bare, io }: Best): string =>
  `ours ${tookText(ours)}; bare ${tookText(bare)}; socket.io ${tookText(io)}`;

function rowsAtATime(best: Best): Row[] {
  const unit = 'deliveries per CPU-second';
  const perCpuSecond = (took: Took): number => 1e6 / cost(took);
  const [ours, bare, io] = [perCpuSecond(best.ours), perCpuSecond(best.bare), perCpuSecond(best.io)];
  return [
    {
      question: `CPU of a delivery in a conversation of ${listeners}, one message at a time / bare sockets`,
      floor: { atMost: 1.2 },
      ratio: bare / ours,
      detail: `${allText(best)}; frames of ${best.ours.frameBytes} bytes, stored and answered in ours`,
      bars: { unit, sides: { Parley: ours, 'bare sockets': bare } },
    },
    {
      question: `Deliveries in a conversation of ${listeners}, one message at a time / socket.io`,
      floor: { atLeast: 1.3 },
      ratio: ours / io,
      detail: `ours ${thousands(ours)}, socket.io ${thousands(io)} of a CPU-second`,
      bars: { unit, sides: { Parley: ours, 'socket.io': io } },
    },
  ];
}

function evenRow(middle: Best): Row {
  const sides = { Parley: cost(middle.ours), 'bare sockets': cost(middle.bare), 'socket.io': cost(middle.io) };
  return {
    question: `CPU of a delivery in a conversation of ${listeners}, ${evenRate} messages a second to all sides / bare sockets`,
    floor: { atMost: 1.2 },
    ratio: cost(middle.ours) / cost(middle.bare),
    detail: `${allText(middle)}; the middle one of ${rounds} runs each`,
    bars: { unit: 'µs', sides },
  };
}
