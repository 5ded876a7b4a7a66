/**
 * How long it takes from `join()` to the first picture of a present participant: server, media node and Chromium
 * on one machine, a new page each time: `node tools/proof/join-to-frame.ts [joins]`.
 */
import { stopShared } from '../../apps/server/testkit/kit/worker-life.ts';
import { openSdk } from '../../e2e/sdk/kit.ts';

const JOINS = Number(process.argv[2] ?? 20);
const MS_MAX = 1000;

const kit = await openSdk();
const room = await kit.newRoom();
const host = await kit.caller(room, 'host');
await host.join();
await host.setMicrophone(true);
await host.setCamera(true);

const joined: number[] = [];
const shown: number[] = [];
for (let index = 0; index < JOINS; index += 1) {
  const viewer = await kit.caller(room, `viewer-${index}`);
  await viewer.join();
  await viewer.watches('host');
  const times = await viewer.page.evaluate(() => window.caller.times);
  const { join = Number.NaN, joined: done = Number.NaN, firstFrame = Number.NaN } = times;
  joined.push(done - join);
  shown.push(firstFrame - join);
  await viewer.page.evaluate(() => window.caller.room.leave());
  await viewer.page.close();
}
await stopShared();

const at = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN;
const line = (values: readonly number[]): string =>
  [0.5, 0.95, 1].map((share) => `${Math.round(at(values, share))} ms`).join(' / ');
console.log(`${JOINS} joins, p50 / p95 / worst`);
console.log(`joined (token, socket, room): ${line(joined)}`);
console.log(`first picture: ${line(shown)}, wanted under ${MS_MAX} ms`);
process.exit(at(shown, 0.95) < MS_MAX ? 0 : 1);
