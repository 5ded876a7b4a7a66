/**
 * Proof that the Dockerfile builds, and that its image runs as nobody special on a read-only root and carries one call
 * and one chat. There may be no registry of images here, so the base is a Debian made by debootstrap. As root, with
 * debootstrap, buildah and podman installed:
 *
 *   node tools/proof/image.ts [--suite trixie] [--packages "nodejs npm"] [--folder DIR]
 *
 * What is in the folder already is used again and stays there: the base, then the image.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { ownPort } from '../../apps/server/testkit/kit/ports.ts';
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
    folder: { type: 'string' },
    inside: { type: 'boolean', default: false },
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

function buildBase(folder: string, { buildah, ask }: Images): void {
  const root = join(folder, 'base');
  if (!existsSync(root)) makeDebian(root, values.suite, values.packages.split(' '));
  const scratch = ask('buildah', 'from', 'scratch');
  buildah('copy', '--quiet', scratch, root, '/');
  buildah('commit', '--quiet', scratch, 'parley-base');
  steps.done(`a base of ${values.suite} with ${values.packages}`);
}

function build(folder: string, { buildah }: Images): void {
  const context = join(folder, 'context');
  unpackHead(repository, context);
  const file = ['--file', join(context, 'deploy/Dockerfile'), '--build-arg', 'BASE=localhost/parley-base'];
  // Without a runtime for each step: what the steps do is the same.
  const how = ['--isolation', 'chroot', '--network', 'host', '--format', 'docker'];
  buildah('build', ...how, ...file, '--tag', 'parley', context);
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
  // Not the runtime's own, which may be above what we may set here. Health checks would need systemd: we ask ourselves.
  '--ulimit=nofile=16384:16384',
  '--ulimit=nproc=4096:4096',
  '--no-healthcheck',
];

async function run({ ask }: Images): Promise<void> {
  const [port, control, turn, udp] = [await ownPort(), await ownPort(), await ownPort(), await ownPort()];
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
  const id = ask('podman', 'run', '--detach', '--volume=/data', ...confined, ...env, 'localhost/parley');
  try {
    await eventually(async () => (await fetch(`${url}/readyz`)).ok, { withinMs: 120_000, everyMs: 200 });
    steps.done('the container is ready');
    assert.equal(ask('podman', 'exec', id, 'id', '-u'), '1000');
    assert.throws(() => ask('podman', 'exec', id, 'touch', '/app/x'), /Read-only file system/);
    const { Test: check } = JSON.parse(
      ask('podman', 'image', 'inspect', 'localhost/parley', '--format', '{{json .HealthCheck}}'),
    );
    ask('podman', 'exec', id, ...check.slice(1));
    ask('podman', 'exec', id, 'parley', 'status', '--url', url);
    const link = await eventually(() => {
      const [printed] = /https?:\/\/\S+first-account\?token=[\w.-]+/.exec(ask('podman', 'logs', id)) ?? [];
      return printed ?? assert.fail('no link was printed');
    });
    steps.done(`a call and a chat (${await smoke(url, await firstApiKey(url, link))})`);
    ask('podman', 'stop', '--time', '20', id);
    assert.equal(ask('podman', 'wait', id), '0');
    steps.done('stopped by SIGTERM with code 0');
  } catch (error) {
    console.error(ask('podman', 'logs', id));
    throw error;
  } finally {
    ask('podman', 'rm', '--force', '--volumes', id);
  }
}

/** Crun knows one hierarchy of cgroups, and machines may have two: mounts of our own hide the older one. */
function enterOwnMounts(): number | null {
  const prepare = 'umount -R /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup; exec "$@"';
  const again = [process.execPath, ...process.argv.slice(1), '--inside'];
  return spawnSync('unshare', ['--mount', 'sh', '-c', prepare, 'sh', ...again], { stdio: 'inherit' }).status;
}

async function prove(): Promise<void> {
  const folder = values.folder ?? (await mkdtemp(join(tmpdir(), 'parley-image-')));
  mkdirSync(join(folder, 'run'), { recursive: true });
  const images = imagesIn(folder);
  const has = (image: string): boolean =>
    images.ask('buildah', 'images', '--quiet', '--filter', `reference=${image}`) !== '';
  try {
    if (!has('localhost/parley-base')) buildBase(folder, images);
    if (!has('localhost/parley')) build(folder, images);
    await run(images);
    console.table(steps.rows);
  } finally {
    images.ask('buildah', 'rm', '--all');
    if (values.folder === undefined) await rm(folder, { recursive: true, force: true });
  }
}

const missing = missingForDebian() ?? ['buildah', 'podman'].find((name) => !hasProgram(name)) ?? null;
if (missing !== null) {
  console.log(`This proof cannot run here: ${missing}`);
  process.exitCode = 1;
} else if (values.inside) await prove();
else process.exitCode = enterOwnMounts() ?? 1;
