/**
 * Proof that the Dockerfile builds, and that its image runs as nobody special on a read-only root and carries one call
 * and one chat. There may be no registry of images here, so the base is a Debian made by debootstrap. As root, with
 * debootstrap, buildah and podman installed:
 *
 *   node tools/proof/image.ts [--suite trixie] [--packages "nodejs npm"]
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { ownPort } from '../../apps/server/testkit/kit/ports.ts';
import { freeUdpPort } from '../../apps/sfu/testkit/ports.ts';
import {
  hasProgram,
  makeDebian,
  missingForDebian,
  readmePackages,
  readmeSuite,
  show,
  unpackHead,
} from './machine/debian.ts';
import { firstApiKey, smoke } from './machine/smoke.ts';
import { createSteps } from './machine/steps.ts';

const repository = join(import.meta.dirname, '..', '..');
const { values } = parseArgs({
  options: {
    suite: { type: 'string', default: readmeSuite },
    packages: { type: 'string', default: readmePackages },
  },
});
const steps = createSteps();

/** Images and containers of this proof only, in a folder of its own. */
function imagesIn(folder: string) {
  const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'overlay'];
  return {
    buildah: (...args: string[]) => show('buildah', ...storage, ...args),
    /** Gives what it printed. */
    ask: (program: string, ...args: string[]) =>
      execFileSync(program, [...storage, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim(),
  };
}
type Images = ReturnType<typeof imagesIn>;

function build(folder: string, { buildah, ask }: Images): void {
  const root = join(folder, 'base');
  makeDebian(root, values.suite, values.packages.split(' '));
  const scratch = ask('buildah', 'from', 'scratch');
  buildah('copy', '--quiet', scratch, root, '/');
  buildah('commit', '--quiet', scratch, 'parley-base');
  steps.done(`a base of ${values.suite} with ${values.packages}`);
  const context = join(folder, 'context');
  unpackHead(repository, context);
  const file = ['--file', join(context, 'deploy/Dockerfile'), '--build-arg', 'BASE=localhost/parley-base'];
  // Without a runtime of its own for each step: what the steps do is the same.
  buildah(
    'build',
    '--isolation',
    'chroot',
    '--network',
    'host',
    '--format',
    'docker',
    ...file,
    '--tag',
    'parley',
    context,
  );
  steps.done('buildah build');
}

/** As Compose runs it: no capability, no new privileges, a root that cannot be written, /tmp in memory, one volume. */
const confined = [
  '--read-only',
  '--read-only-tmpfs=false',
  '--tmpfs=/tmp',
  '--cap-drop=ALL',
  '--security-opt=no-new-privileges',
  '--cgroups=disabled',
  '--network=host',
];

async function run({ ask }: Images): Promise<void> {
  const [port, control, turn, udp] = [await ownPort(), await ownPort(), await ownPort(), await freeUdpPort()];
  const url = `http://127.0.0.1:${port}`;
  const settings = {
    PUBLIC_URL: url,
    PORT: port,
    SFU_INTERNAL_PORT: control,
    SFU_TURN_PORT: turn,
    SFU_UDP_PORT: udp,
    SFU_PROCESSES: 1,
    // Nothing of this proof leaves the machine.
    HOST: '127.0.0.1',
    SFU_ANNOUNCED_HOST: '127.0.0.1',
  };
  const env = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`);
  const id = ask('podman', 'run', '--detach', '--volume=data:/data', ...confined, ...env, 'localhost/parley');
  try {
    await eventually(async () => (await fetch(`${url}/readyz`)).ok, { withinMs: 120_000, everyMs: 200 });
    steps.done('the container is ready');
    assert.equal(ask('podman', 'exec', id, 'id', '-u'), '1000');
    assert.throws(() => ask('podman', 'exec', id, 'touch', '/app/x'), /Read-only file system/);
    const link = await eventually(
      () => /https?:\/\/\S+first-account\?token=[\w.-]+/.exec(ask('podman', 'logs', id))?.[0],
    );
    steps.done(`a call and a chat (${await smoke(url, await firstApiKey(url, link ?? ''))})`);
    ask('podman', 'stop', '--time', '20', id);
    assert.equal(ask('podman', 'wait', id), '0');
    steps.done('stopped by SIGTERM with code 0');
  } catch (error) {
    console.error(ask('podman', 'logs', id));
    throw error;
  } finally {
    ask('podman', 'rm', '--force', id);
  }
}

const missing = missingForDebian() ?? ['buildah', 'podman'].find((name) => !hasProgram(name)) ?? null;
if (missing !== null) {
  console.log(`This proof cannot run here: ${missing}`);
  process.exit(1);
}
const folder = await mkdtemp(join(tmpdir(), 'parley-image-'));
mkdirSync(join(folder, 'run'));
const images = imagesIn(folder);
try {
  build(folder, images);
  await run(images);
  console.table(steps.rows);
} finally {
  images.ask('buildah', 'rm', '--all');
  await rm(folder, { recursive: true, force: true });
}
