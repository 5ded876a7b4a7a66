import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { newDataDir } from '../apps/server/testkit/process.ts';
import type { SocketTimes } from './chat-listeners.ts';
import { type Stage, startStage, tokenOf } from './chat-stage.ts';
import { type Child, startChild } from './children.ts';
import type { Row } from './ratio.ts';
import { clientFrame, seen, upgrade } from './raw-websocket.ts';

const listeners = 1_000;
const messages = 250;
const everyMs = 30;
/** A run is more than the kernel and a socket's queue take: a reader that stalls is cut in it. */
const rounds = 2;
const text = 'x'.repeat(20_000);

/** One reader among a thousand stops reading: what the others notice of it, and how much is kept for it. */
export async function rows(): Promise<Row[]> {
  const dataDir = await newDataDir();
  const stage = await startStage({ dataDir, env: { CHAT_MAX_TEXT_LENGTH: '20000' }, conversations: 1, users: 1 });
  const child = startChild('./chat-listeners.ts');
  try {
    const [room = ''] = stage.rooms;
    const token = await tokenOf(stage, 'user-0');
    await child.ask({ open: { url: stage.url, token, room, count: listeners } });
    await stage.child.ask({ order: 'queued' });
    await traffic(stage, child);
    const alone: number[] = [];
    const beside: number[] = [];
    let queuedMax = 0;
    for (let round = 0; round < rounds; round++) {
      alone.push((await traffic(stage, child)).p99Ms);
      const stalled = await stall(stage, token, room);
      beside.push((await traffic(stage, child)).p99Ms);
      const { queuedBytes } = await stage.child.ask<{ queuedBytes: number }>({ order: 'queued' });
      queuedMax = Math.max(queuedMax, queuedBytes);
      stalled.destroy();
    }
    const [before, with1] = [Math.min(...alone), Math.min(...beside)];
    return [
      {
        question: `one stalled socket of ${listeners.toLocaleString('en')}: p99 of the others / without it`,
        floor: { atMost: 1.1 },
        ratio: with1 / before,
        detail: `${with1.toFixed(1)} ms against ${before.toFixed(1)} ms, best of ${rounds} in turns`,
      },
      {
        question: 'the most that was ever queued for one socket, in MiB',
        floor: { atMost: 1 },
        ratio: queuedMax / 1024 / 1024,
        detail: `${queuedMax} bytes; ${messages} messages of ${text.length} characters a run`,
      },
    ];
  } finally {
    await child.stop();
    await stage.child.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Sends at a steady pace and gives how long after its acknowledgement began a message reached everybody. */
async function traffic({ project, rooms }: Stage, child: Child): Promise<SocketTimes> {
  await child.ask({ expect: messages });
  const [room = ''] = rooms;
  for (let at = 0; at < messages; at++) {
    const started = performance.now();
    const sentAt = performance.timeOrigin + started;
    await project.api.call('sendMessage', { room, body: { text, metadata: { sentAt } } });
    const left = everyMs - (performance.now() - started);
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
  }
  return child.ask<SocketTimes>({ report: true });
}

/** A subscriber who reads the answer to its subscription and then nothing any more. */
async function stall({ port }: Stage, token: string, room: string): Promise<Socket> {
  const socket = upgrade(port, `/v1/chat/ws?token=${token}`);
  socket.on('error', () => undefined);
  await seen(socket, '"hello"');
  socket.write(clientFrame(JSON.stringify({ type: 'subscribe', id: 's', conversations: [{ ref: room }] })));
  await seen(socket, '"ref":"s"');
  socket.pause();
  return socket;
}
