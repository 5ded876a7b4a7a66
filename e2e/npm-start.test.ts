import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import { ownPort } from '../apps/server/testkit/kit/ports.ts';
import { bareEnv, briefFromWithin, newDataDir } from '../apps/server/testkit/kit/process.ts';
import { embeddedNode } from './node-process.ts';

const onLinux = process.platform === 'linux' ? false : 'process tables are read from /proc';
const repository = fileURLToPath(new URL('..', import.meta.url));

let dataDir: string;
before(async () => {
  dataDir = await newDataDir();
});
after(async () => {
  killOurs('SIGKILL');
  await rm(dataDir, { recursive: true, force: true });
});

function killOurs(signal: NodeJS.Signals): void {
  for (const pid of ours())
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
}

/** Living processes that were given this data folder: npm, its shell, the server, the node and its media processes. */
const ours = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const isDead = /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
        return !isDead && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`DATA_DIR=${dataDir}\0`);
      } catch {
        return false;
      }
    });

/** `npm start` as it is typed, after `nohup` for example; resolves when it is ready. */
async function npmStart(...before: string[]): Promise<{ npm: ChildProcess; url: string }> {
  const port = await ownPort();
  const { HOME } = process.env;
  const [command = '', ...args] = [...before, 'npm', 'start'];
  const npm = spawn(command, args, {
    // A group of its own, as a shell gives every job.
    detached: true,
    cwd: repository,
    env: { HOME, ...bareEnv(), ...briefFromWithin, ...(await embeddedNode()), PORT: String(port), DATA_DIR: dataDir },
    stdio: 'ignore',
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => assert.equal((await fetch(`${url}/readyz`)).status, 200), { withinMs: 120_000 });
  return { npm, url };
}

for (const signal of ['SIGKILL', 'SIGTERM'] as const)
  test(`[RUN-26] ${signal} to npm leaves nothing of npm start: no process and no port`, { skip: onLinux }, async () => {
    const { npm, url } = await npmStart();
    assert.ok(ours().length >= 4, 'npm, server, node and media process');
    npm.kill(signal);
    await eventually(() => assert.deepEqual(ours(), []), { withinMs: 30_000 });
    await assert.rejects(fetch(`${url}/healthz`));
  });

test('[RUN-29] nohup npm start goes on when its terminal is closed, though npm ends', { skip: onLinux }, async () => {
  const { npm, url } = await npmStart('nohup');
  const group = npm.pid ?? 0;
  // The kernel's and the shell's way: to every process of the job.
  process.kill(-group, 'SIGHUP');
  await eventually(() => assert.ok(npm.signalCode !== null || npm.exitCode !== null), { withinMs: 30_000 });
  // Longer than it takes to see that npm is gone.
  for (let look = 0; look < 15; look += 1) {
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    await sleep(100);
  }
  assert.ok(ours().length >= 3, 'server, node and media process');
  killOurs('SIGTERM');
  await eventually(() => assert.deepEqual(ours(), []), { withinMs: 30_000 });
});
