/** The long fuzz: `node tools/proof/fuzz.ts [requests] [frames] [seed]`. */
import { FUZZ_LIMITS, fuzzRoutes } from '../../apps/server/testkit/fuzz/routes.ts';
import { fuzzSockets } from '../../apps/server/testkit/fuzz/sockets.ts';
import { startRooms } from '../../apps/server/testkit/rooms.ts';
import { createWorld } from '../../apps/server/testkit/world.ts';

const [requests = 65_000, frames = 50_000, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number);
const service = await startRooms({ env: FUZZ_LIMITS });
const faults: string[] = [];
const byStatus = new Map<number, number>();
const started = performance.now();
const elapsed = (): string => `${((performance.now() - started) / 1000).toFixed(0)} s`;
const report = (what: string): void => void process.stdout.write(`\r${what}, ${faults.length} faults, ${elapsed()}   `);

let asked = 0;
for (let round = 0; asked < requests; round += 1) {
  // A world of its own each time: the last one was closed, archived and revoked on the way.
  const project = await service.newProject();
  const world = await createWorld(service, project, 'DEVELOPMENT');
  const outcome = await fuzzRoutes({
    service,
    project,
    world,
    seed: seed + round,
    perRoute: 40,
    onProgress: (more) => report(`${asked + more} of ${requests} requests`),
  });
  asked += outcome.requests;
  faults.push(...outcome.faults);
  for (const [status, count] of outcome.byStatus) byStatus.set(status, (byStatus.get(status) ?? 0) + count);
}
console.log();
const world = await createWorld(service, await service.newProject(), 'DEVELOPMENT');
const sockets = await fuzzSockets({
  service,
  world,
  seed,
  frames,
  onProgress: (sent) => report(`${sent} of ${frames} frames`),
});
faults.push(...sockets.faults);
console.log(`\nseed ${seed}: ${asked} requests ${JSON.stringify([...byStatus].sort())}`);
console.log(
  `${sockets.frames} frames, ${sockets.answered} answers, sockets closed ${JSON.stringify([...sockets.cut])}`,
);
console.log(`${faults.length} faults`);
for (const fault of faults.slice(0, 10)) console.log(fault.slice(0, 1000));
await service.stop();
process.exit(faults.length === 0 ? 0 : 1);
