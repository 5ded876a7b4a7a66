import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { test } from 'node:test';
import { eventually } from '../../testkit/node.ts';
import { systemClock } from '../media/clock.ts';
import { DatagramWindow } from './datagram-window.ts';
import { MessageStream } from './message-stream.ts';
import { Pipe, type PipedLayer, type PipeListener, type PipeSettings } from './pipe.ts';
import { PipeSocket } from './pipe-socket.ts';
import { type DatagramSeal, Seal } from './seal.ts';
import { Stamp } from './stamp.ts';

const secret = Buffer.alloc(32, 7);
const sealed = (seal: DatagramSeal, text: string): Buffer => Buffer.concat(seal.seal(5, Buffer.from(text)));

test('[PIPE-1] a datagram is read by the other end only, unchanged and once', () => {
  const [a, b] = [new Seal(secret, 'a'), new Seal(secret, 'b')];
  const first = sealed(a, 'one');
  const second = sealed(a, 'two');
  assert.ok(!first.includes('one'), 'it is encrypted');
  assert.equal(String(b.open(second)), 'two', 'they may overtake each other');
  assert.equal(String(b.open(first)), 'one');
  assert.equal(b.open(first), undefined, 'a replay');
  assert.equal(a.open(sealed(a, 'back')), undefined, 'reflected to its sender');
  assert.equal(new Seal(Buffer.alloc(32, 8), 'b').open(sealed(a, 'x')), undefined, 'another secret');
  for (const at of [4, 11, 13, -1]) {
    const forged = sealed(a, 'three');
    const index = at < 0 ? forged.length - 1 : at;
    forged[index] = (forged[index] ?? 0) ^ 1;
    assert.equal(b.open(forged), undefined, `byte ${at} was changed`);
  }
  const old = sealed(a, 'old');
  for (let index = 0; index < 1100; index += 1) b.open(sealed(a, 'more'));
  assert.equal(b.open(old), undefined, 'older than the window');
});

test('[PIPE-32] on one machine a datagram carries the key of its direction, and is read once', () => {
  const [a, b] = [new Stamp(secret, 'a'), new Stamp(secret, 'b')];
  const first = sealed(a, 'one');
  assert.equal(String(b.open(sealed(a, 'two'))), 'two', 'they may overtake each other');
  assert.equal(String(b.open(first)), 'one');
  assert.equal(b.open(first), undefined, 'a replay');
  assert.equal(a.open(sealed(a, 'back')), undefined, 'reflected to its sender');
  assert.equal(new Stamp(Buffer.alloc(32, 8), 'b').open(sealed(a, 'x')), undefined, 'another secret');
  assert.equal(b.open(sealed(new Seal(secret, 'a'), 'not stamped')), undefined);
  assert.equal(b.open(sealed(a, '').subarray(0, 27)), undefined, 'cut off');
  for (let at = 12; at < 28; at += 1) {
    const forged = sealed(a, 'three');
    forged[at] = (forged[at] ?? 0) ^ 1;
    assert.equal(b.open(forged), undefined, `byte ${at} was changed`);
  }
});

test('[PIPE-16] while the secret is rotated, an end that has both answers with the one that it hears', () => {
  const next = Buffer.alloc(32, 9);
  const [rotated, old] = [new Seal(next, 'a', [secret]), new Seal(secret, 'b')];
  assert.equal(old.open(sealed(rotated, 'one')), undefined);
  assert.equal(String(rotated.open(sealed(old, 'two'))), 'two');
  assert.equal(String(old.open(sealed(rotated, 'three'))), 'three');
});

test('[PIPE-3] messages arrive whole and in order over a path that loses, doubles and reorders', () => {
  let now = 0;
  let seed = 1;
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const path: { to: () => void; at: number }[] = [];
  const lossy = (deliver: () => void): void => {
    for (let copies = random() < 0.2 ? 2 : 1; copies > 0; copies -= 1)
      if (random() > 0.3) path.push({ to: deliver, at: now + random() * 50 });
  };
  const got: string[] = [];
  const a: MessageStream = new MessageStream({
    sendChunk: (number, bytes) => lossy(() => b.onChunk(number, Buffer.from(bytes))),
    sendAck: () => {},
    message: () => {},
  });
  const b: MessageStream = new MessageStream({
    sendChunk: () => {},
    sendAck: (next) => lossy(() => a.onAck(next, now)),
    message: (bytes) => got.push(String(bytes)),
  });
  const sent = Array.from({ length: 60 }, (_, index) => `${index} `.repeat(1 + ((index * 97) % 900)));
  for (const message of sent) assert.equal(a.push(Buffer.from(message), false, now), true);
  for (; got.length < sent.length && now < 60_000; now += 5) {
    for (const { to } of path.filter(({ at }) => at <= now)) to();
    path.splice(0, path.length, ...path.filter(({ at }) => at > now));
    b.flushAck();
    if (now % 20 === 0) a.tick(now);
  }
  assert.deepEqual(got, sent);
});

test('[MED-104] a datagram counts as lost once it is far behind, and the count never falls', () => {
  const window = new DatagramWindow();
  const take = (from: number, to: number, missing: readonly number[] = []) => {
    for (let number = from; number <= to; number += 1) if (!missing.includes(number)) window.accept(number);
  };
  take(40, 140, [50, 60, 70]);
  assert.equal(window.lost, 0, 'they may still come, and what was before the first was not ours');
  window.accept(60);
  take(141, 400);
  assert.equal(window.lost, 2);
  window.accept(50);
  assert.equal(window.lost, 2, 'it came too late');
  window.accept(5000);
  take(5001, 5200);
  assert.equal(window.lost, 2 + 4599);
});

interface End {
  pipe: Pipe;
  socket: PipeSocket;
  rtp: { of: PipedLayer; packet: Buffer }[];
  messages: string[];
}

const strictly = (error: unknown): never => {
  throw error;
};

async function openPipe(): Promise<{ a: End; b: End; close(): void }> {
  const sockets = [await PipeSocket.open('127.0.0.1', strictly), await PipeSocket.open('127.0.0.1', strictly)] as const;
  const newEnd = (index: 0 | 1): End => {
    const end = { rtp: [], messages: [] } as Pick<End, 'rtp' | 'messages'>;
    const listener: PipeListener = {
      rtp: (of, packet) => void end.rtp.push({ of, packet }),
      message: (bytes) => void end.messages.push(String(bytes)),
      senderReport() {},
      demand() {},
      keyFrame() {},
      nack() {},
    };
    const other = index === 0 ? 1 : 0;
    const settings: PipeSettings = {
      id: 10 + index,
      peerId: 10 + other,
      host: '127.0.0.1',
      port: sockets[other].port,
      secret: secret.toString('hex'),
      end: index === 0 ? 'a' : 'b',
      datagramBytes: 8192,
    };
    const socket = sockets[index];
    return { ...end, socket, pipe: new Pipe(settings, socket, systemClock, listener) };
  };
  const [a, b] = [newEnd(0), newEnd(1)];
  return {
    a,
    b,
    close() {
      for (const { pipe, socket } of [a, b]) {
        pipe.close();
        socket.close();
      }
    },
  };
}

test('[PIPE-21] a pipe to another node sends pings and nothing else until it has heard the other end', () => {
  const sent: Buffer[] = [];
  let receive: (datagram: Buffer) => boolean = () => false;
  // What a pipe uses of its socket.
  const socket = {
    attach(_pipe: number, listener: typeof receive) {
      receive = listener;
    },
    detach() {},
    send: (parts: readonly Buffer[]) => void sent.push(Buffer.concat(parts)),
  } as unknown as PipeSocket;
  const ignore = () => {};
  const media = { rtp: ignore, senderReport: ignore, demand: ignore, keyFrame: ignore, nack: ignore };
  const listener: PipeListener = { ...media, message: ignore };
  const ends = { id: 5, peerId: 5, host: '10.0.0.9', port: 9, secret: secret.toString('hex'), end: 'a' as const };
  const settings = { ...ends, datagramBytes: 1400, betweenNodes: { otherSecrets: [] } };
  const pipe = new Pipe(settings, socket, systemClock, listener);
  const other = new Seal(secret, 'b');
  const of = { track: 7, layer: 2, run: 3 };
  const write = (now: number): void => {
    pipe.sendRtp(of, Buffer.alloc(1000));
    pipe.sendDemand(7, 1);
    pipe.sendKeyFrameRequest(7, 0);
    pipe.sendNack(of, [1, 2]);
    pipe.sendMessage(Buffer.from('who is there'));
    pipe.tick(now);
    pipe.flush();
  };
  const typesSent = () => [...new Set(sent.splice(0).flatMap((datagram) => typesIn(other.open(datagram))))].sort();
  const [rtp, demand, keyFrame, nack, chunk, ping] = [1, 3, 4, 5, 6, 8];
  for (const now of [0, 1000, 2000]) write(now);
  assert.deepEqual(typesSent(), [ping]);
  assert.equal(receive(sealed(new Seal(Buffer.alloc(32, 8), 'b'), 'not of the other end')), false);
  write(3000);
  assert.deepEqual(typesSent(), [ping]);
  assert.equal(receive(sealed(other, '')), true);
  write(4000);
  assert.deepEqual(typesSent(), [rtp, demand, keyFrame, nack, chunk, ping]);
  pipe.close();
});

function typesIn(records: Buffer | undefined): number[] {
  assert.ok(records, 'it is of the pipe');
  const types: number[] = [];
  for (let at = 0; at < records.length; at += 3 + records.readUInt16BE(at + 1)) types.push(records[at] ?? 0);
  return types;
}

test('[PIPE-2] packets that come together share datagrams; strangers are dropped and get no answer', async () => {
  const { a, b, close } = await openPipe();
  const of = { track: 7, layer: 2, run: 3 };
  for (let index = 0; index < 20; index += 1) a.pipe.sendRtp(of, Buffer.alloc(1000, index));
  a.pipe.sendMessage(Buffer.from('hello'));
  await eventually(() => b.rtp.length === 20 && b.messages.length === 1, 'the records did not arrive');
  assert.deepEqual(b.rtp[19], { of, packet: Buffer.alloc(1000, 19) });
  assert.equal(a.pipe.stats.sentDatagrams, 3);
  // A packet larger than a datagram should be goes alone.
  a.pipe.sendRtp(of, Buffer.alloc(9000));
  await eventually(() => b.rtp.length === 21, 'the large packet did not arrive');

  const stranger = createSocket('udp4');
  const answers: Buffer[] = [];
  stranger.on('message', (answer) => answers.push(answer));
  const forged = Buffer.alloc(200);
  forged.writeUInt32BE(11, 0);
  for (const datagram of [Buffer.alloc(200), Buffer.alloc(3), forged])
    await new Promise((resolve) => stranger.send(datagram, b.socket.port, '127.0.0.1', resolve));
  await eventually(() => b.socket.dropped === 2 && b.pipe.stats.refusedDatagrams === 1, 'they were not counted');
  // An answer of the pipe would have come before this one.
  const echo = createSocket('udp4');
  echo.on('message', (datagram, { port }) => echo.send(datagram, port, '127.0.0.1'));
  await new Promise<void>((resolve) => echo.bind(0, '127.0.0.1', resolve));
  stranger.send(Buffer.from('echo'), echo.address().port, '127.0.0.1');
  await eventually(() => answers.length > 0, 'the stranger hears nobody');
  assert.deepEqual(answers.map(String), ['echo']);
  echo.close();
  stranger.close();
  close();
});
