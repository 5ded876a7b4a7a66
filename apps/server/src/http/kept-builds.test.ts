import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createFakeClock } from '../../testkit/kit/fake-clock.ts';
import { createLog } from '../core/log.ts';
import { createMetrics } from '../core/metrics.ts';
import { createKeptBuilds, keepBuild } from './kept-builds.ts';
import { createHttpServer } from './server.ts';
import { mountPages } from './static.ts';

let root: string;
before(() => {
  root = mkdtempSync(join(tmpdir(), 'parley-kept-'));
});
after(() => rmSync(root, { recursive: true, force: true }));

/** A build with one chunk that has the build's name in its own. */
function newBuild(name: string): string {
  const folder = join(root, `build-${name}`);
  mkdirSync(join(folder, 'assets'), { recursive: true });
  writeFileSync(join(folder, 'index.html'), `<p>${name}</p>`);
  writeFileSync(join(folder, 'assets', `${name}.js`), `// ${name}`);
  return folder;
}

/** What a server that starts now with this build answers for each chunk. */
async function statuses(build: string, kept: string, now: number, chunks: readonly string[]): Promise<number[]> {
  const log = createLog('silent');
  const app = createHttpServer({ table: {}, log, metrics: createMetrics(), trustProxy: [], isDraining: () => false });
  const deps = { prefix: '', isProduction: true, publicUrl: 'https://parley.example' };
  mountPages(app, { ...deps, folder: () => build, before: (folder) => keepBuild(folder, kept, now) });
  const answers = await Promise.all(chunks.map((chunk) => app.inject({ url: `/assets/${chunk}.js` })));
  await app.close();
  return answers.map(({ statusCode }) => statusCode);
}

const hourMs = 3_600_000;

test('[DASH-65] the chunks of the build before are served for a day after it was replaced', async () => {
  const kept = join(root, 'kept-a');
  const [a, b] = [newBuild('a'), newBuild('b')];
  assert.deepEqual(await statuses(a, kept, 0, ['a', 'b']), [200, 404]);
  // However long it was in use.
  assert.deepEqual(await statuses(b, kept, 1_000 * hourMs, ['a', 'b']), [200, 200]);
  assert.deepEqual(await statuses(b, kept, 1_023 * hourMs, ['a', 'b']), [200, 200]);
  assert.deepEqual(await statuses(b, kept, 1_025 * hourMs, ['a', 'b']), [404, 200]);
  assert.equal(readdirSync(kept).length, 1, 'and deleted after it');
});

test('[DASH-65] three replaced builds are kept, and one that comes back is in use again', async () => {
  const kept = join(root, 'kept-b');
  const names = ['c', 'd', 'e', 'f', 'g'];
  for (const [index, name] of names.entries()) keepBuild(newBuild(name), kept, index * hourMs);
  assert.deepEqual(await statuses(newBuild('g'), kept, 5 * hourMs, names), [404, 200, 200, 200, 200]);
  assert.deepEqual(await statuses(newBuild('d'), kept, 6 * hourMs, names), [404, 200, 200, 200, 200]);
});

/** Keeps a build in a thread, as soon as all threads are there. */
async function keepTogether(build: string, kept: string, count: number): Promise<void> {
  const source = `
    const { module, build, kept, count, ready } = require('node:worker_threads').workerData;
    import(module).then(({ keepBuild }) => {
      const before = Atomics.add(ready, 0, 1);
      for (let seen = before + 1; seen < count; seen = Atomics.load(ready, 0)) Atomics.wait(ready, 0, seen);
      Atomics.notify(ready, 0);
      keepBuild(build, kept, 0);
    });`;
  const ready = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { module: new URL('./kept-builds.ts', import.meta.url).href, build, kept, count, ready };
  const threads = Array.from({ length: count }, () => new Worker(source, { eval: true, workerData }));
  await Promise.all(
    threads.map(
      (thread) =>
        new Promise<void>((resolve, reject) => {
          thread.once('error', reject).once('exit', () => resolve());
        }),
    ),
  );
}

test('[DASH-65] processes that start together keep the build once, and none of them fails', async () => {
  const build = newBuild('together');
  for (let index = 0; index < 200; index++) writeFileSync(join(build, 'assets', `chunk-${index}.js`), '//');
  const kept = join(root, 'kept-c');
  await keepTogether(build, kept, 4);
  const [only = '', ...more] = readdirSync(kept);
  assert.deepEqual(more, []);
  assert.equal(readdirSync(join(kept, only, 'assets')).length, 201);
});

test('[DASH-65] a build that a running process serves is not deleted, no matter who else started; one broken folder hides no other', () => {
  const dataDir = join(root, 'data');
  const kept = join(dataDir, 'pages');
  const [clock, log] = [createFakeClock(), createLog('silent')];
  const running = createKeptBuilds({ dataDir, clock, log });
  const start = clock.now();
  running.before(newBuild('running'));
  assert.equal(keepBuild(newBuild('tried'), kept, start).length, 1);
  running.stayInUse();
  writeFileSync(join(kept, '0'.repeat(16)), 'a file where a folder should be');
  const folders = keepBuild(newBuild('next'), kept, start + 30 * hourMs);
  assert.equal(folders.length, 2);
  assert.ok(folders.some((folder) => existsSync(join(folder, 'assets', 'running.js'))));
});
