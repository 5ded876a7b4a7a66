/**
 * In the gateway of a bad network: everything its clients send comes here, and goes on late and with losses. UDP by the
 * proxy of the suite. TCP repairs its losses itself, which a client sees as one more round trip for what was lost.
 */
import { connect, createServer, type Socket } from 'node:net';
import { seeded, startUdpProxy } from '../../../e2e/udp-proxy.ts';
import { SERVER } from './namespaces.ts';

/** A round trip of 200 ms, and 3 % of the packets lost, each way. */
const ONE_WAY_MS = 100;
const LOSS = 0.03;
const UDP_PORTS = process.argv.slice(2).map(Number);
const TCP_PORTS = [443, 3478];

const random = seeded(7);

/** Bytes of one direction in their order, each late by the path and by the repair of its losses. */
function pass(from: Socket, to: Socket, openAt: number): void {
  const waiting: Buffer[] = [];
  let last = 0;
  from.on('data', (bytes) => {
    const repairMs = random() < LOSS ? 2 * ONE_WAY_MS : 0;
    last = Math.max(last, Math.max(performance.now(), openAt) + ONE_WAY_MS + repairMs);
    waiting.push(bytes);
    setTimeout(() => to.write(waiting.shift() ?? ''), last - performance.now());
  });
  from.on('error', () => {});
  from.on('close', () => setTimeout(() => to.destroy(), ONE_WAY_MS));
}

for (const port of TCP_PORTS)
  createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port, host: SERVER.ipv4, noDelay: true });
    // The handshake of TCP would have taken a round trip.
    const openAt = performance.now() + 2 * ONE_WAY_MS;
    pass(client, upstream, openAt);
    pass(upstream, client, openAt);
  }).listen(port, '0.0.0.0');

for (const port of UDP_PORTS) {
  const proxy = await startUdpProxy(port, { port, target: SERVER.ipv4 });
  for (const path of [proxy.up, proxy.down]) Object.assign(path, { loss: LOSS, delayMs: ONE_WAY_MS });
}
console.log('ready');
