import { randomInt } from 'node:crypto';
import { idPrefixes } from '@parley/contract/ids';
import type { MediaCommandName, MediaCommands } from '@parley/contract/media-control';
import { initLogger, PeerConnection } from 'node-datachannel';
import type { WorkerMessage, WorkerRequest, WorkerSettings } from './control/worker-protocol.ts';
import { createCertificate } from './media/certificate.ts';
import { systemClock } from './media/clock.ts';
import { Engine } from './media/engine.ts';
import { MediaError } from './media/errors.ts';

/**
 * A media process: one engine on one UDP port, told what to do by the supervisor over the process channel. It ends when
 * that channel does, so that a killed supervisor leaves nothing behind.
 */
const LOAD_MS = 1000;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

const tell = (message: WorkerMessage): void => {
  // Without a supervisor there is nobody to tell; `disconnect` is on its way.
  if (process.connected) process.send?.(message);
};
const report = (error: unknown): void =>
  tell({ kind: 'error', message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
const newTrackId = (): string =>
  idPrefixes.track + Array.from({ length: 24 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

// The supervisor wrote it.
const settings = JSON.parse(process.argv[2] ?? '{}') as WorkerSettings;
const engine = startEngine();

function startEngine(): Engine {
  try {
    return createEngine();
  } catch (error) {
    tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
    process.exit(1);
  }
}

function createEngine(): Engine {
  // Strangers' packets make the library talk: nobody shall be able to fill the log from outside.
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
    candidates: () => settings.candidates,
    emit: (type, data) => tell({ kind: 'event', type, data }),
    onError: report,
  });
}

process.on('message', ({ id, type, data }: WorkerRequest) => {
  try {
    tell({
      kind: 'answer',
      ref: id,
      data: engine.handle(type, data as MediaCommands[MediaCommandName]['request'] as never),
    });
  } catch (error) {
    if (error instanceof MediaError) tell({ kind: 'refusal', ref: id, code: error.code, message: error.message });
    else {
      report(error);
      tell({ kind: 'refusal', ref: id, code: 'INTERNAL', message: 'Internal error.' });
    }
  }
});
process.on('disconnect', () => process.exit(0));
// The terminal's Ctrl-C reaches every process of the group; the supervisor decides when we end.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {
  engine.close();
  process.exit(0);
});
process.on('uncaughtException', report);
process.on('unhandledRejection', report);

setInterval(() => {
  const { user, system } = process.cpuUsage();
  tell({ kind: 'load', load: { ...engine.load(), cpuMicros: user + system, memoryBytes: process.memoryUsage.rss() } });
}, LOAD_MS);
tell({ kind: 'ready' });
