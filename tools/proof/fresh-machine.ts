/**
 * Proof that the README's two commands work on a bare Debian: one made by debootstrap in a folder, Node as the README
 * says, what is committed, an ordinary user. It makes one call and one chat, then stops npm and looks that nothing is
 * left running. As root, with debootstrap installed:
 *
 *   node tools/proof/fresh-machine.ts [--suite trixie] [--packages "nodejs npm"]
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import {
  giveToUser,
  home,
  makeDebian,
  missingForDebian,
  readmePackages,
  readmeSuite,
  startMachine,
  unpackHead,
} from './machine/debian.ts';
import { readSmoke, smokeArguments } from './machine/smoke.ts';
import { createSteps } from './machine/steps.ts';

const repository = join(import.meta.dirname, '..', '..');
const { values } = parseArgs({
  options: {
    suite: { type: 'string', default: readmeSuite },
    packages: { type: 'string', default: readmePackages },
  },
});

const steps = createSteps();

async function install(root: string): Promise<void> {
  makeDebian(root, values.suite, values.packages.split(' '));
  steps.done(`a bare Debian (${values.suite}) with ${values.packages}`);
  unpackHead(repository, join(root, home, 'parley'));
  giveToUser(join(root, home));
  // Only the registry is reached from it.
  const online = await startMachine(root, 'shared');
  try {
    await online.ran(`cd ${home}/parley && npm install`);
  } finally {
    await online.stop();
  }
  steps.done('npm install');
}

async function start(root: string): Promise<void> {
  const machine = await startMachine(root, 'own');
  try {
    let output = '';
    machine.run(`cd ${home}/parley && npm start`, (text) => {
      output += text;
    });
    await eventually(() => output.includes('ready in'), { withinMs: 180_000, everyMs: 200 });
    steps.done('npm start, to its banner');
    await machine.ran(`cd ${home}/parley && npx parley status`);
    const line = readSmoke(await machine.ran(`cd ${home}/parley && npx parley ${smokeArguments}`));
    steps.done(`a call and a chat (${line})`);
    const npm = machine.processes().find(({ command }) => command.startsWith('npm start'));
    assert.ok(npm, 'npm start runs');
    process.kill(npm.pid, 'SIGTERM');
    await eventually(() => assert.deepEqual(machine.processes(), []), { withinMs: 30_000, everyMs: 200 });
    steps.done('stopped by SIGTERM to npm; no process is left');
  } finally {
    await machine.stop();
  }
}

const missing = missingForDebian();
if (missing !== null) {
  console.log(`This proof cannot run here: ${missing}`);
  process.exit(1);
}
const folder = await mkdtemp(join(tmpdir(), 'parley-fresh-'));
const root = join(folder, 'root');
try {
  await install(root);
  await start(root);
  console.table(steps.rows);
} finally {
  await rm(folder, { recursive: true, force: true });
}
