/** The whole product as `npx @parley/cli dev` brings it: the published programs, in a folder outside of the repository. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { ownPort } from '../apps/server/testkit/kit/ports.ts';
import { bareEnv, briefFromWithin, newDataDir } from '../apps/server/testkit/kit/process.ts';
import { buildPackages } from '../tools/packages/build.ts';
import { readManifest } from '../tools/packages/manifest.ts';
import { packages } from '../tools/packages/table.ts';
import { findChromium } from './browser.ts';
import { meetInLobby } from './lobby.ts';
import { embeddedNode } from './node-process.ts';
import { buildPages } from './page-builds.ts';

// Below node_modules, so that the packages of others are found where they are.
const cache = 'node_modules/.cache/parley';
let installed: string;
let dataDir: string;

before(async () => {
  buildPages();
  mkdirSync(cache, { recursive: true });
  installed = join(mkdtempSync(resolve(cache, 'published-')), 'node_modules');
  const folders = await buildPackages(installed);
  for (const { folder } of packages) {
    const own = resolve(folder, 'node_modules');
    if (existsSync(own)) symlinkSync(own, join(folders.get(readManifest(folder).name) ?? '', 'node_modules'));
  }
  dataDir = await newDataDir();
});
after(() => {
  if (installed) rmSync(join(installed, '..'), { recursive: true, force: true });
  if (dataDir) rmSync(dataDir, { recursive: true, force: true });
});

test('[PKG-5] the published packages are JavaScript alone, and carry no test', () => {
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter(
    (path) => !/node_modules/.test(path),
  );
  assert.ok(files.length > 700, `${files.length} files`);
  assert.deepEqual(
    files.filter((path) => /(?<!\.d)\.tsx?$|\.test\./.test(path)),
    [],
  );
});

/** The one line of `--json` among those of the log. */
const bannerOf = (printed: string): { url: string; mediaProblem: string | null } =>
  JSON.parse(/^\{"version".*\}$/m.exec(printed)?.[0] ?? '{}');

/** In a folder that is new each time nothing was compiled before: to keep it would cost, and fill the cache for nobody. */
const compiledAnew = { NODE_DISABLE_COMPILE_CACHE: '1' };

/** Starts a program, and gives what it printed once that matches; it ends with the test. */
async function start(t: TestContext, args: readonly string[], env: Record<string, string>, cwd: string, until: RegExp) {
  const { HOME } = process.env;
  const child = spawn(process.execPath, args, {
    cwd,
    env: { HOME, ...bareEnv(), ...compiledAnew, ...briefFromWithin, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let printed = '';
  for await (const text of child.stdout.iterator({ destroyOnReturn: false })) {
    printed += text;
    if (until.test(printed)) break;
  }
  child.stdout.resume();
  return printed;
}

test('[PKG-5] [PKG-8] parley dev runs everything from them, and the application of parley init runs against it at once', async (t) => {
  const main = join(installed, '@parley/cli/src/main.js');
  const port = String(await ownPort());
  const settings = { ...(await embeddedNode()), PORT: port, DATA_DIR: dataDir, LOG_LEVEL: 'warn' };
  const { url, mediaProblem } = bannerOf(
    await start(t, [main, 'dev', '--json'], settings, dataDir, /"mediaProblem".*\}\n/),
  );
  assert.equal(mediaProblem, null);
  for (const path of ['/', '/docs/guides/rooms', '/playground/room/demo', '/llms.txt']) {
    const answer = await fetch(`${url}${path}`, { headers: { accept: 'text/html' } });
    assert.equal(answer.status, 200, path);
    assert.doesNotMatch(await answer.text(), /http-equiv="refresh"/, `${path} is built`);
  }

  const app = join(installed, '..', 'app');
  execFileSync(process.execPath, [main, 'init', app], { env: { ...bareEnv(), DATA_DIR: dataDir } });
  assert.throws(
    () => execFileSync(process.execPath, [main, 'init', app], { stdio: 'ignore' }),
    'not over what is there',
  );
  const appPort = String(await ownPort());
  await start(t, ['--env-file=.env', 'backend.js'], { PORT: appPort }, app, /Open http/);
  const admitted = await fetch(`http://localhost:${appPort}/admit?name=Ada%20Lovelace`);
  const { callToken, chatToken, room, user } = await admitted.json();
  assert.ok(callToken && chatToken, String(admitted.status));
  assert.deepEqual([room, user], ['lobby', 'Ada-Lovelace']);
  assert.match(await (await fetch(`http://localhost:${appPort}/`)).text(), /src="\/main\.jsx/);
  assert.match(await (await fetch(`http://localhost:${appPort}/main.jsx`)).text(), /@parley_react|@parley\/react/);
  if (findChromium()) await meetInLobby(`http://localhost:${appPort}/`);
  else t.diagnostic('no Chromium: the page of the application was not opened');
});
