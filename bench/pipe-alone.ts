import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { systemClock } from '../apps/sfu/src/media/clock.ts';
import { Pipe, type PipeListener, type PipeSettings } from '../apps/sfu/src/pipes/pipe.ts';
import { PipeSocket } from '../apps/sfu/src/pipes/pipe-socket.ts';
import type { Row } from './ratio.ts';

const PACKET_BYTES = 1100;
/** As a publisher's pacer sends them. */
const BURST = 4;
const WARM_UP_BURSTS = 2000;
const BURSTS = 8000;
const SECRET = Buffer.alloc(32, 7).toString('hex');

/** What a packet costs that crosses a pipe, both ends in this process: records, datagrams, the loopback device. */
export async function pipeAlone(): Promise<Row> {
  const within = await measure({});
  const between = await measure({ betweenNodes: { otherSecrets: [] } });
  return {
    question: 'CPU of a packet over a pipe on one machine, both ends / encrypted as between nodes',
    ratio: within / between,
    floor: null,
    figures: { pipePacketMicros: within, nodePipePacketMicros: between },
    detail: `${within.toFixed(1)} µs against ${between.toFixed(1)} µs, four packets of ${PACKET_BYTES} bytes a datagram`,
    bars: { unit: 'µs', sides: { 'one machine': within, 'between nodes': between } },
  };
}

async function measure(path: Pick<PipeSettings, 'betweenNodes'>): Promise<number> {
  const [near, far] = [await openSocket(), await openSocket()];
  let received = 0;
  const ignore = (): void => {};
  const others = { senderReport: ignore, demand: ignore, keyFrame: ignore, nack: ignore, message: ignore };
  const listener: PipeListener = {
    ...others,
    rtp() {
      received += 1;
    },
  };
  const common = { host: '127.0.0.1', secret: SECRET, datagramBytes: 8192, ...path };
  const sender = new Pipe({ ...common, id: 1, peerId: 2, port: far.port, end: 'a' }, near, systemClock, listener);
  const receiver = new Pipe({ ...common, id: 2, peerId: 1, port: near.port, end: 'b' }, far, systemClock, listener);
  // To another node nothing but pings goes out before it was heard.
  for (const pipe of [sender, receiver]) pipe.tick(systemClock.now());
  await sleep(50);
  await send(sender, WARM_UP_BURSTS);
  received = 0;
  const before = process.cpuUsage();
  await send(sender, BURSTS);
  const { user, system } = process.cpuUsage(before);
  const cost = (user + system) / received;
  for (const [pipe, socket] of [[sender, near] as const, [receiver, far] as const]) {
    pipe.close();
    socket.close();
  }
  return cost;
}

async function send(pipe: Pipe, bursts: number): Promise<void> {
  const packet = Buffer.alloc(PACKET_BYTES, 7);
  for (let burst = 0; burst < bursts; burst += 1) {
    for (let index = 0; index < BURST; index += 1) pipe.sendRtp({ track: 1, layer: 0, run: 0 }, packet);
    pipe.flush();
    await turn();
  }
  await sleep(50);
}

const openSocket = (): Promise<PipeSocket> =>
  PipeSocket.open('127.0.0.1', (error) => {
    throw error;
  });
