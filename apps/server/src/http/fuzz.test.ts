import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FUZZ_LIMITS, fuzzRoutes } from '../../testkit/fuzz/routes.ts';
import { fuzzSockets } from '../../testkit/fuzz/sockets.ts';
import type { TestProject } from '../../testkit/people.ts';
import { type RoomsService, startRooms } from '../../testkit/rooms.ts';
import { createWorld, type World } from '../../testkit/world.ts';

/** The seeded part of `tools/proof/fuzz.ts`: the same every time, so that a failure can be looked at. */
const SEED = 20_261_115;

let service: RoomsService;
let project: TestProject;
let world: World;

before(async () => {
  service = await startRooms({ env: FUZZ_LIMITS });
  project = await service.newProject();
  world = await createWorld(service, project, 'DEVELOPMENT');
});
after(() => service.stop());

test('[SEC-11] whatever a route is asked, it answers, with the envelope, and never 5xx', async () => {
  const { requests, byStatus, faults } = await fuzzRoutes({ service, project, world, seed: SEED, perRoute: 24 });
  assert.deepEqual(faults.slice(0, 3), []);
  assert.ok(requests > 3000, `only ${requests} requests`);
  // A fuzz that never gets past the door proves little.
  const done = [...byStatus].reduce((sum, [status, count]) => (status < 300 ? sum + count : sum), 0);
  assert.ok(done > requests / 20, `only ${done} of ${requests} did anything: ${JSON.stringify([...byStatus])}`);
});

test('[SEC-11] whatever a socket is sent, it answers or says why it closes', async () => {
  const { frames, answered, faults } = await fuzzSockets({ service, world, seed: SEED, frames: 1200 });
  assert.deepEqual(faults.slice(0, 3), []);
  assert.ok(frames >= 1200 && answered > frames / 3, `${answered} answers to ${frames} frames`);
});
