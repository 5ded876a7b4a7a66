import { randomInt } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { idPrefixes } from '@parley/contract/ids';
import { initLogger, PeerConnection } from 'node-datachannel';
import {
  ICE_KEY_VARIABLE,
  type SupervisorMessage,
  type WorkerMessage,
  type WorkerRequest,
  type WorkerSettings,
} from './control/worker-protocol.ts';
import { createCertificate } from './media/certificate.ts';
import { systemClock } from './media/clock.ts';
import { Engine } from './media/engine.ts';
import { MediaError } from './media/errors.ts';
import { Legs } from './pipes/legs.ts';
import { PipeSocket } from './pipes/pipe-socket.ts';

/**
 * A media process: one engine on one UDP port, driven by the supervisor over the process channel. It exits when that
 * channel closes, so that a killed supervisor leaves nothing behind.
 */
const LOAD_MS = 1000;
/** Pipes are between processes of this machine. */
const PIPE_HOST = '127.0.0.1';
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

const send = (message: WorkerMessage): void => {
  // The supervisor is gone, and `disconnect` is on its way.
  if (process.connected) process.send?.(message);
};
const report = (error: unknown): void =>
  send({ kind: 'error', message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
const newTrackId = (): string =>
  idPrefixes.track + Array.from({ length: 24 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

// The supervisor wrote it.
const settings = JSON.parse(process.argv[2] ?? '{}') as WorkerSettings;
let { candidates } = settings;
const { engine, legs, pipePort, fleetPort } = await startEngine();

async function startEngine() {
  try {
    const socket = await PipeSocket.open(PIPE_HOST, report);
    const fleetSocket = settings.fleetPipes ? await openFleetSocket(settings.fleetPipes) : null;
    const legs = new Legs(socket, systemClock, fleetSocket);
    legs.onSilence = (peer, isSilent) => send({ kind: 'silence', peer, isSilent });
    return { engine: createEngine(legs), legs, pipePort: socket.port, fleetPort: fleetSocket?.port ?? null };
  } catch (error) {
    send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
    process.exit(1);
  }
}

async function openFleetSocket({ host, port }: NonNullable<WorkerSettings['fleetPipes']>) {
  try {
    const { address } = await lookup(host);
    return await PipeSocket.open(address, report, port).catch((error: unknown) => {
      if (codeOf(error) !== 'EADDRINUSE') throw error;
      throw new Error(`UDP port ${port} for pipes to other nodes (SFU_PIPE_PORT) is taken`);
    });
  } catch (error) {
    // No address of this machine: the control port is refused for it too, with a sentence for the operator.
    if (NOT_OURS.includes(codeOf(error))) return null;
    throw error;
  }
}

const NOT_OURS: readonly unknown[] = ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'];

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function createEngine(legs: Legs): Engine {
  // The library logs packets of strangers: the log must not be fillable from outside.
  initLogger('Fatal', () => {});
  // The ICE library takes its log level over with the first transport only.
  const first = new PeerConnection('first', { iceServers: [] });
  first.createDataChannel('first');
  first.close();
  return new Engine({
    clock: systemClock,
    random: Math.random,
    newTrackId,
    udpPort: settings.udpPort,
    bindAddress: settings.bindAddress ?? undefined,
    certificate: createCertificate(Date.now()),
    iceKey: Buffer.from(process.env[ICE_KEY_VARIABLE] ?? '', 'hex'),
    candidates: () => candidates,
    legs,
    emit: (event) => send({ kind: 'event', event }),
    onError: report,
  });
}

process.on('message', (message: SupervisorMessage) => {
  if ('candidates' in message) ({ candidates } = message);
  else if ('pipes' in message) legs.execute(message.pipes);
  else answer(message);
});

function answer({ id, command }: WorkerRequest): void {
  try {
    send({ kind: 'answer', ref: id, data: engine.handle(command) });
  } catch (error) {
    if (error instanceof MediaError) send({ kind: 'refusal', ref: id, code: error.code, message: error.message });
    else {
      report(error);
      send({ kind: 'refusal', ref: id, code: 'INTERNAL', message: 'Internal error.' });
    }
  }
}
process.on('disconnect', () => process.exit(0));
// The terminal's Ctrl-C and its end reach every process of the group; the supervisor decides when this one exits.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('SIGTERM', () => {
  engine.close();
  process.exit(0);
});
process.on('uncaughtException', report);
process.on('unhandledRejection', report);

setInterval(() => {
  const { user, system } = process.cpuUsage();
  const memoryBytes = process.memoryUsage.rss();
  send({ kind: 'load', load: { ...engine.load(), cpuMicros: user + system, memoryBytes } });
}, LOAD_MS);
send({ kind: 'ready', pipePort, fleetPort });
