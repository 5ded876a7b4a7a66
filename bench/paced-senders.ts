/**
 * Child process: members of conversations who listen and send, at an even rate that waits for no answer, or as much as
 * is taken. Raw sockets: reading must cost little beside what is measured.
 */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from './ratio.ts';
import { clientFrame, upgrade } from './raw-websocket.ts';

type SendersOrder = { open: Senders } | { run: Pace } | { peak: { inFlight: number; ms: number } };

interface Senders {
  port: number;
  /** Each with the conversations they hear and send to. */
  members: {
    /** Null for a bare server, which asks for none and sends everything to everybody. */
    token: string | null;
    rooms: string[];
  }[];
}

export interface Pace {
  perSecond: number;
  ms: number;
  /** How long is waited for what is still under way at the end. */
  settleMs: number;
  /** What is sent before this is told apart. */
  firstMs?: number;
}

export interface Paced {
  sent: number;
  delivered: number;
  /** What should have been delivered. */
  expected: number;
  /** Until the last that was delivered. */
  seconds: number;
  /** From sending to the sender's answer, of those that were answered. */
  p50Ms: number;
  p99Ms: number;
  /** Of those that were sent within `firstMs`. */
  first: { p50Ms: number; p99Ms: number };
  /** Errors instead of answers, and the last of them. */
  refused: number;
  lastRefusal: string;
}

interface Sender {
  socket: Socket;
  rooms: readonly string[];
}

const heartbeatMs = 15_000;
const text = 'x'.repeat(200);
const headMax = 200;
let senders: Sender[] = [];
let listenersOf = new Map<string, number>();
let [delivered, lastAt, serial, refused, lastRefusal] = [0, 0, 0, 0, ''];
const underWay = new Map<string, number>();
let tookMs: number[] = [];
let firstTookMs: number[] = [];
let firstUntil = 0;
let onAnswer: (sender: Sender) => void = () => undefined;

async function open({ port, members }: Senders): Promise<object> {
  listenersOf = new Map();
  senders = await Promise.all(members.map((member) => join(port, member)));
  for (const { rooms } of senders) for (const room of rooms) listenersOf.set(room, (listenersOf.get(room) ?? 0) + 1);
  return { opened: senders.length };
}

async function join(port: number, { token, rooms }: Senders['members'][number]): Promise<Sender> {
  const socket = upgrade(port, token === null ? '/' : `/v1/chat/ws?token=${token}`);
  const sender = { socket, rooms };
  const isJoined = (head: string): boolean => token === null || head.includes('"ref":"s"');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    let onFrame = (head: string): void => {
      if (head.startsWith('{"type":"hello"')) {
        const conversations = rooms.map((ref) => ({ ref, presence: false }));
        socket.write(clientFrame(JSON.stringify({ type: 'subscribe', id: 's', conversations })));
      } else if (head.startsWith('{"type":"error"')) reject(new Error(head));
      if (!isJoined(head)) return;
      onFrame = (next) => receive(sender, next);
      resolve();
    };
    read(socket, (head) => onFrame(head));
  });
  if (token !== null) setInterval(() => socket.write(clientFrame('{"type":"ping"}')), heartbeatMs).unref();
  socket.on('close', () => {
    [refused, lastRefusal] = [refused + 1, 'a socket was closed'];
  });
  return sender;
}

/** The heads of whole frames of a server (no mask, less than 64 KiB each); the first is that of the upgrade, as nothing. */
function read(socket: Socket, onFrame: (head: string) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  let isUpgraded = false;
  socket.on('data', (chunk: Buffer) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    if (!isUpgraded) {
      const end = bytes.indexOf('\r\n\r\n');
      if (end >= 0) {
        [isUpgraded, at] = [true, end + 4];
        onFrame('');
      }
    }
    while (isUpgraded && bytes.length - at >= 4) {
      const short = (bytes[at + 1] ?? 0) & 127;
      const head = short < 126 ? 2 : 4;
      const size = head + (short < 126 ? short : bytes.readUInt16BE(at + 2));
      if (bytes.length - at < size) break;
      onFrame(bytes.toString('latin1', at + head, Math.min(at + size, at + head + headMax)));
      at += size;
    }
    rest = bytes.subarray(at);
  });
}

function receive(sender: Sender, head: string): void {
  if (head.startsWith('{"type":"message"')) {
    delivered += 1;
    lastAt = performance.now();
  } else if (head.startsWith('{"type":"ack"')) {
    const ref = /"ref":"([^"]*)"/.exec(head)?.[1] ?? '';
    const at = underWay.get(ref);
    if (at === undefined) return;
    underWay.delete(ref);
    const ms = performance.now() - at;
    tookMs.push(ms);
    if (at < firstUntil) firstTookMs.push(ms);
    onAnswer(sender);
  } else if (head.startsWith('{"type":"error"')) {
    [refused, lastRefusal] = [refused + 1, head];
  }
}

/** To the next of its conversations; how many hear it. */
function send({ socket, rooms }: Sender): number {
  const id = String(serial++);
  const conversation = rooms[serial % rooms.length] ?? '';
  underWay.set(id, performance.now());
  const frame = { type: 'message.send', id, conversation, text, clientMessageId: `${process.pid}-${id}` };
  socket.write(clientFrame(JSON.stringify(frame)));
  return listenersOf.get(conversation) ?? 0;
}

function begin(): void {
  [delivered, refused, lastRefusal] = [0, 0, ''];
  underWay.clear();
  [tookMs, firstTookMs, firstUntil] = [[], [], 0];
  onAnswer = () => undefined;
}

const delaysOf = (values: readonly number[]) => ({ p50Ms: percentile(values, 0.5), p99Ms: percentile(values, 0.99) });

async function run({ perSecond, ms, settleMs, firstMs = 0 }: Pace): Promise<Paced> {
  begin();
  const start = performance.now();
  firstUntil = start + firstMs;
  let [sent, expected] = [0, 0];
  for (let now = start; now - start < ms; now = performance.now()) {
    for (const due = ((now - start) / 1000) * perSecond; sent < due; sent++) {
      const sender = senders[sent % senders.length];
      if (sender) expected += send(sender);
    }
    await sleep(1);
  }
  const deadline = performance.now() + settleMs;
  while ((delivered < expected || underWay.size > 0) && performance.now() < deadline) await sleep(5);
  const seconds = (lastAt - start) / 1000;
  return {
    sent,
    delivered,
    expected,
    seconds,
    ...delaysOf(tookMs),
    first: delaysOf(firstTookMs),
    refused,
    lastRefusal,
  };
}

/** Stored messages a second while everybody always has as many under way. */
async function peak({ inFlight, ms }: { inFlight: number; ms: number }): Promise<{ perSecond: number }> {
  begin();
  const start = performance.now();
  onAnswer = (sender) => {
    if (performance.now() - start < ms) send(sender);
  };
  for (const sender of senders) for (let at = 0; at < inFlight; at++) send(sender);
  await sleep(ms);
  const perSecond = (tookMs.length / (performance.now() - start)) * 1000;
  for (let waits = 0; underWay.size > 0 && waits < 500; waits++) await sleep(20);
  if (refused > 0 || underWay.size > 0) throw new Error(`${underWay.size} without an answer, ${lastRefusal}`);
  return { perSecond };
}

function answer(order: SendersOrder): Promise<object> {
  if ('open' in order) return open(order.open);
  if ('run' in order) return run(order.run);
  return peak(order.peak);
}

process.on('message', (order: SendersOrder) => {
  answer(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
