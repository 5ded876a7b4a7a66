import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { bareEnv } from '../../../testkit/kit/process.ts';

/** Writes what belongs to somebody, and dies in the middle of it. */
const dying = `
  import { withFile } from '${new URL('./folder.ts', import.meta.url)}';
  import { writeFile } from 'node:fs/promises';
  await withFile(async (file) => {
    await writeFile(file, 'of somebody');
    process.kill(process.pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  });`;

test('[DATA-5] what an attempt had written to a disk goes with its process, also when that is killed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-killed-attempt-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const env = { ...bareEnv(), TMPDIR: folder };
  const child = spawn(process.execPath, ['--input-type=module', '-e', dying], { env, stdio: 'inherit' });
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL']);
  assert.deepEqual(await readdir(folder), []);
});
