import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../../apps/server/testkit/kit/eventually.ts';
import { ownPort } from '../../../apps/server/testkit/kit/ports.ts';
import { bareEnv } from '../../../apps/server/testkit/kit/process.ts';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));
const parley = `${process.execPath} ${main} sfu`;

interface Started {
  child: ChildProcess;
  /** Whether the node's control port answers. */
  isUp(): Promise<boolean>;
}

/** `parley sfu` of a fleet that is away, in a group of its own as a shell gives every job. */
/** Three processes start one after the other. */
const patience = { withinMs: 60_000 };

async function start(t: TestContext, command: string, ...args: string[]): Promise<Started> {
  const port = await ownPort();
  const child = spawn(command, args, {
    detached: true,
    stdio: 'ignore',
    env: {
      ...bareEnv(),
      CONTROL_URL: 'http://127.0.0.1:9',
      SFU_REGISTRATION_SECRET: 'a-secret-for-tests-of-at-least-32-bytes',
      SFU_ANNOUNCED_HOST: '127.0.0.1',
      SFU_INTERNAL_PORT: String(port),
      SFU_UDP_PORT: String(await ownPort()),
      SFU_TURN_PORT: 'off',
      SFU_PROCESSES: '1',
      SFU_DRAIN_SECONDS: '0',
    },
  });
  t.after(() => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      // It has ended, as it should.
    }
  });
  const isUp = () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      () => true,
      () => false,
    );
  await eventually(async () => assert.ok(await isUp()), patience);
  return { child, isUp };
}

/** A pseudo-terminal: `script` of util-linux. */
const lacksTerminal = (() => {
  try {
    execFileSync('script', ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'script is not installed';
  }
})();

test('[RUN-29] nohup parley sfu goes on when its terminal is closed, and ends with SIGTERM', async (t) => {
  const { child, isUp } = await start(t, 'nohup', ...parley.split(' '));
  process.kill(-(child.pid ?? 0), 'SIGHUP');
  // What it was told before is done by the time that it answers.
  for (let look = 0; look < 5; look += 1) assert.ok(await isUp());
  child.kill('SIGTERM');
  await eventually(() => assert.equal(child.exitCode, 0), patience);
  assert.equal(await isUp(), false);
});

test('[RUN-29] without nohup CLI and node end with their terminal', { skip: lacksTerminal }, async (t) => {
  const { child, isUp } = await start(t, 'script', '-qec', parley, '/dev/null');
  child.kill('SIGKILL');
  await eventually(async () => assert.equal(await isUp(), false), patience);
});
