import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MediaEvent } from '@parley/contract/media-control';
import { systemClock } from '../media/clock.ts';
import { Directory } from './directory.ts';
import { createExecutor } from './executor.ts';
import { FleetPipes } from './fleet-pipes.ts';
import { Spread } from './spread.ts';
import type { Worker } from './workers.ts';

const room = 'room_1';
const closed: MediaEvent = { type: 'room.closed', data: { room, reason: 'ROOM_CLOSED' } };

test('[MED-78] a late event of a process does not touch a room that is open on another', () => {
  const directory = new Directory();
  directory.controller('c1');
  directory.open({ room }, 1, 'c1');
  directory.own({ room, participant: 'ps_1' }, 'ada', 'c1', 1);
  directory.emit(closed, 0);
  const data = { room, participant: 'ps_1', identity: 'ada', reason: 'ROOM_CLOSED' as const };
  directory.emit({ type: 'participant.closed', data }, 0);
  assert.deepEqual([directory.workerOf(room), directory.participantCount], [1, 1]);
  directory.emit(closed, 1);
  assert.equal(directory.workerOf(room), undefined);
});

test('[MED-78] a room that closes just before it is opened again stays in the directory', async () => {
  const directory = new Directory();
  const controller = directory.controller('c1');
  // A media process, as far as the supervisor sees it: its last event precedes its answer.
  const worker = {
    isReady: true,
    async request() {
      directory.emit(closed, 0);
      return { created: true };
    },
  } as unknown as Worker;
  const workers = [worker];
  const spread = new Spread({ workers, directory, busyPercent: null });
  const fleetPipes = new FleetPipes({ workers, directory, secrets: [], host: null });
  const deps = { directory, workers, spread, fleetPipes, capacity: 10, clock: systemClock, isDraining: () => false };
  const execute = createExecutor(deps);
  await execute(controller, { type: 'room.open', data: { room } });
  assert.equal(directory.workerOf(room), 0);
});
