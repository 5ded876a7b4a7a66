import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { claim } from './ports.ts';

/** A process that claims ports and lives until its input ends. */
const startClaimant = (claims: number): ChildProcessWithoutNullStreams =>
  spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `import { ownPort } from '${new URL('./ports.ts', import.meta.url)}';
     const ports = [];
     while (ports.length < ${claims}) ports.push(await ownPort());
     console.log(JSON.stringify(ports));
     process.stdin.resume();`,
  ]);

const claimedBy = async ({ stdout }: ChildProcessWithoutNullStreams): Promise<number[]> =>
  JSON.parse(String(await once(stdout, 'data')));

test('a port and the three after it, which the processes of a media node take, are given to one process at a time', async (t) => {
  const claimants = [startClaimant(300), startClaimant(300)];
  t.after(() => claimants.map(({ stdin }) => stdin.end()));
  const claimed = (await Promise.all(claimants.map(claimedBy))).flat();
  const ports = claimed.flatMap((first) => [first, first + 1, first + 2, first + 3]);
  assert.deepEqual([ports.length, new Set(ports).size], [2400, 2400]);
});

test('a port is claimed until the process that did so ends, however it ends', async () => {
  const claimant = startClaimant(1);
  const [port = 0] = await claimedBy(claimant);
  assert.equal(claim(port), false);
  claimant.kill('SIGKILL');
  await once(claimant, 'exit');
  assert.deepEqual([claim(port), claim(port)], [true, false]);
});
