import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import type { SocketTimes } from './chat-listeners.ts';
import { type Stage, startStage, tokenOf } from './chat-stage.ts';
import { type Child, startChild } from './children.ts';
import { median, type Row } from './ratio.ts';
import { clientFrame, seen, upgrade } from './raw-websocket.ts';

const listeners = 1_000;
const messages = 250;
const everyMs = 30;
const rounds = 9;
/** What everybody hears; and what only the odd one hears beside it: more in a run than the kernel and its queue take. */
const text = 'x'.repeat(200);
const longText = 'x'.repeat(20_000);

/**
 * One reader among a thousand stops reading: what the others notice of it, and how much is kept for it. Without it the
 * same reader gets the same traffic and reads it, so that only its stalling differs; and there is room on the machine,
 * so that a delay is a delay and not a queue of ours for a core.
 */
export async function rows(): Promise<Row[]> {
  const dataDir = await newDataDir();
  const stage = await startStage({ dataDir, env: { CHAT_MAX_TEXT_LENGTH: '20000' }, conversations: 2, users: 1 });
  const child = startChild('./chat-listeners.ts');
  try {
    const [room = ''] = stage.rooms;
    const token = await tokenOf(stage, 'user-0');
    await child.ask({ open: { url: stage.url, token, room, count: listeners - 1 } });
    await stage.child.ask({ order: 'queued' });
    const p99Ms = async (does: 'read' | 'stall'): Promise<number> => {
      const odd = await subscribe(stage, token, does);
      const times = await traffic(stage, child);
      odd.destroy();
      return times.p99Ms;
    };
    await p99Ms('read');
    const times = { read: [] as number[], stall: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      // Each is as often first.
      for (const does of round % 2 === 0 ? (['read', 'stall'] as const) : (['stall', 'read'] as const)) {
        times[does].push(await p99Ms(does));
      }
    }
    const { queuedBytes } = await stage.child.ask<{ queuedBytes: number }>({ order: 'queued' });
    const [before, with1] = [median(times.read), median(times.stall)];
    return [
      {
        question: `one stalled socket of ${listeners.toLocaleString('en')}: p99 of the others / without it`,
        floor: { atMost: 1.1 },
        ratio: with1 / before,
        figures: { stalledRatio: with1 / before },
        detail: `${with1.toFixed(1)} ms against ${before.toFixed(1)} ms, medians of ${rounds} in turns (${listed(times.stall)} against ${listed(times.read)})`,
        bars: { unit: 'ms', sides: { 'one is stalled': with1, 'none is': before } },
      },
      {
        question: 'the most that was ever queued for one socket, in MiB',
        floor: { atMost: 1 },
        ratio: queuedBytes / 1024 / 1024,
        detail: `${queuedBytes} bytes; ${messages} messages of ${longText.length} characters a run`,
        bars: { unit: 'MiB', sides: { 'queued at most': queuedBytes / 1024 / 1024 } },
      },
    ];
  } finally {
    await child.stop();
    await stage.child.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const listed = (times: readonly number[]): string => times.map((ms) => ms.toFixed(1)).join(', ');

/** Sends at a steady pace and gives how long after its sending began a message reached everybody. */
async function traffic({ project, rooms }: Stage, child: Child): Promise<SocketTimes> {
  await child.ask({ expect: messages });
  const [room = '', ofTheOdd = ''] = rooms;
  for (let at = 0; at < messages; at++) {
    const started = performance.now();
    const sentAt = performance.timeOrigin + started;
    await project.api.call('sendMessage', { room, body: { text, metadata: { sentAt } } });
    await project.api.call('sendMessage', { room: ofTheOdd, body: { text: longText } });
    const left = everyMs - (performance.now() - started);
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
  }
  return child.ask<SocketTimes>({ report: true });
}

/** A subscriber of both conversations who reads the answer to its subscription and then all, or nothing any more. */
async function subscribe({ port, rooms }: Stage, token: string, does: 'read' | 'stall'): Promise<Socket> {
  const socket = upgrade(port, `/v1/chat/ws?token=${token}`);
  socket.on('error', () => undefined);
  await seen(socket, '"hello"');
  const conversations = rooms.map((ref) => ({ ref }));
  socket.write(clientFrame(JSON.stringify({ type: 'subscribe', id: 's', conversations })));
  await seen(socket, '"ref":"s"');
  if (does === 'stall') socket.pause();
  else socket.resume();
  return socket;
}
