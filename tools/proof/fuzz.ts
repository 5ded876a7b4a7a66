/**
 * The long fuzz: `node tools/proof/fuzz.ts [requests] [frames] [seed] [control]`. In pieces: the same seed and fewer of
 * each, then the next seed; every round has a seed, an owner and a project of its own. `control`: how many requests and
 * frames go to the ports of a media node, and how many frames nodes say to the server.
 */

import { startRooms } from '../../apps/server/testkit/clients/rooms.ts';
import { fuzzLink } from '../../apps/server/testkit/fuzz/link.ts';
import { fuzzPlayground } from '../../apps/server/testkit/fuzz/playground.ts';
import { FUZZ_LIMITS, fuzzRoutes, unreached } from '../../apps/server/testkit/fuzz/routes.ts';
import { fuzzSockets } from '../../apps/server/testkit/fuzz/sockets.ts';
import { createWorld } from '../../apps/server/testkit/kit/world.ts';
import { fuzzControlPort } from '../../apps/sfu/testkit/fuzz-control.ts';
import { startTestNode } from '../../apps/sfu/testkit/node.ts';

const [requests = 65_000, frames = 50_000, seed = Date.now() % 1_000_000, control = 20_000] = process.argv
  .slice(2)
  .map(Number);
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
const world = await createWorld(service, await service.newProject(), 'DEVELOPMENT');
note((await fuzzPlayground({ service, world, seed, perRoute: Math.ceil(requests / 200) })).faults);
const sockets =
  frames > 0
    ? await fuzzSockets({
        service,
        world,
        seed,
        frames,
        onProgress: (sent) => report(`${sent} of ${frames} frames`),
      })
    : null;
note(sockets?.faults ?? []);
console.log();
const { ports, link } = control > 0 ? await fuzzMediaNodes() : { ports: null, link: null };

/** A real node gets the requests and frames, the server the frames of nodes that are none. */
async function fuzzMediaNodes() {
  const kit = await startTestNode();
  const sent = (count: number): void => report(`${count} of ${2 * control} requests and frames to a media node`);
  const ports = await fuzzControlPort({ kit, seed, requests: control, frames: control, onProgress: sent });
  note(ports.faults);
  await kit.stop();
  console.log();
  const { api } = await service.newProject();
  const said = (count: number): void => report(`${count} of ${control} frames of media nodes`);
  const link = await fuzzLink({ service, api, seed, frames: control, onProgress: said });
  note(link.faults);
  return { ports, link };
}

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
if (ports && link) {
  const { byStatus: answers, byCode, closed } = ports;
  console.log(`media node: ${JSON.stringify([...answers])}, commands ${JSON.stringify([...byCode])}`);
  console.log(`control connections closed ${JSON.stringify([...closed])}`);
  console.log(`${link.frames} frames of ${link.nodes} media nodes, all cut off, ${link.passedOn} passed on`);
}
console.log(`${faults.length} faults`);
await service.stop();
process.exit(faults.length === 0 ? 0 : 1);
