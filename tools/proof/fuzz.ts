/**
 * The long fuzz: `node tools/proof/fuzz.ts [requests] [frames] [seed]`. In pieces: the same seed and fewer of either,
 * then the next seed; every round has a seed, an owner and a project of its own.
 */

import { startRooms } from '../../apps/server/testkit/clients/rooms.ts';
import { FUZZ_LIMITS, fuzzRoutes, unreached } from '../../apps/server/testkit/fuzz/routes.ts';
import { fuzzSockets } from '../../apps/server/testkit/fuzz/sockets.ts';
import { createWorld } from '../../apps/server/testkit/kit/world.ts';

const [requests = 65_000, frames = 50_000, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number);
const service = await startRooms({ env: FUZZ_LIMITS });
const operator = await service.newPerson('operator');
const faults: string[] = [];
const byStatus = new Map<number, number>();
const started = performance.now();
const elapsed = (): string => `${((performance.now() - started) / 1000).toFixed(0)} s`;
const report = (what: string): void => void process.stdout.write(`\r${what}, ${faults.length} faults, ${elapsed()}   `);

/** Said at once: a long run may be cut short. */
function note(found: readonly string[]): void {
  for (const fault of found.slice(0, 10)) console.log(`\n${fault.slice(0, 2000)}`);
  faults.push(...found);
}

let asked = 0;
for (let round = 0; asked < requests; round += 1) {
  const outcome = await fuzzRoutes({
    service,
    operator,
    seed: seed + round,
    perRoute: 40,
    onProgress: (more) => report(`${asked + more} of ${requests} requests`),
  });
  asked += outcome.requests;
  note([...outcome.faults, ...unreached(outcome).map((name) => `only refused: ${name}`)]);
  for (const [status, count] of outcome.byStatus) byStatus.set(status, (byStatus.get(status) ?? 0) + count);
}
console.log();
const sockets =
  frames > 0
    ? await fuzzSockets({
        service,
        world: await createWorld(service, await service.newProject(), 'DEVELOPMENT'),
        seed,
        frames,
        onProgress: (sent) => report(`${sent} of ${frames} frames`),
      })
    : null;
note(sockets?.faults ?? []);

const count = (...statuses: number[]): number => statuses.reduce((sum, status) => sum + (byStatus.get(status) ?? 0), 0);
const all = [...byStatus].sort(([a], [b]) => a - b);
const good = count(...all.map(([status]) => status).filter((status) => status < 400));
console.log(`\nseed ${seed}, ${elapsed()}: ${asked} requests, ${good} did their work`);
console.log(`unauthenticated (401) ${count(401)}, over budget (429) ${count(429)}; all: ${JSON.stringify(all)}`);
if (sockets) {
  const { done, refused, cut, beforeAuth, unreadable } = sockets;
  console.log(`${sockets.frames} frames, ${done} did their work; ${beforeAuth} before authentication`);
  console.log(`${unreadable} binary, too large or no UTF-8; sockets closed ${JSON.stringify([...cut])}`);
  console.log(`refused ${JSON.stringify([...refused])}`);
}
console.log(`${faults.length} faults`);
await service.stop();
process.exit(faults.length === 0 ? 0 : 1);
