/** The SDKs as their users get them: packed, installed into an empty project, run, compiled and bundled there. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { rolldown } from 'rolldown';
import { build } from 'vite';
import { buildPackages } from '../tools/packages/build.ts';
import type { PublishedPackage } from '../tools/packages/table.ts';

const work = mkdtempSync(join(tmpdir(), 'parley-packages-'));
const project = join(work, 'project');
let tarballs: string[] = [];

const npm = (args: readonly string[], cwd: string): string =>
  execFileSync('npm', [...args, '--offline', '--no-audit', '--no-fund'], { cwd, encoding: 'utf8', stdio: 'pipe' });

const ownCopy = (name: string): string => resolve('node_modules', name);

/** Runs a file of the project, and gives what it printed. */
function run(name: string, code: string): string {
  writeFileSync(join(project, name), code);
  return execFileSync(process.execPath, [name], { cwd: project, encoding: 'utf8' }).trim();
}

before(async () => {
  // The SDKs, and what writes an application that uses them.
  const isWanted = ({ kind, folder }: PublishedPackage): boolean =>
    kind === 'library' || folder === 'packages/create-parley';
  const folders = await buildPackages(join(work, 'out'), isWanted);
  assert.ok(folders.size >= 3);
  npm(['pack', ...folders.values(), '--pack-destination', work], work);
  const packed = [...folders].map(([name, folder]) => {
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return join(work, `${name.replace(/^@/, '').replace('/', '-')}-${version}.tgz`);
  });
  tarballs = packed.filter((path) => !basename(path).startsWith('create-'));
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true }');
  // Without the registry: an SDK depends on other SDKs and on React alone.
  npm(['install', ...packed, ...['react', 'react-dom', 'scheduler'].map(ownCopy)], project);
});
after(() => rmSync(work, { recursive: true, force: true }));

test('[PKG-1] publint and "are the types wrong" find nothing in the packed SDKs', async () => {
  for (const path of tarballs) {
    const bytes = new Uint8Array(readFileSync(path));
    const { messages } = await publint({ pack: { tarball: bytes.buffer }, strict: true });
    assert.deepEqual(messages, [], basename(path));
    // A style sheet has no types.
    const excludeEntrypoints = [/\.css$/];
    const analysis = await checkPackage(createPackageFromTarballData(bytes), { excludeEntrypoints });
    assert.ok(analysis.types, `${basename(path)} has types`);
    assert.deepEqual(analysis.problems, [], basename(path));
  }
});

test('[PKG-2] an installed SDK runs by import and by require, and needs no window', () => {
  const use = `
    const parley = new Parley({ apiKey: 'svk_dev_a.b' });
    const room = new Room({ url: 'http://localhost', token: 'x' });
    console.log(parley.environment, ParleyError === SvcError, typeof Chat, room.state.getSnapshot().connection, typeof Call);`;
  const names = ['{ Room, ParleyError, SvcError }', '{ Chat }', '{ Parley }', '{ Call }'];
  const from = ['@parley/client', '@parley/client/chat', '@parley/server', '@parley/react'];
  const imports = names.map((list, index) => `import ${list} from '${from[index]}';`).join('\n');
  const requires = names.map((list, index) => `const ${list} = require('${from[index]}');`).join('\n');
  assert.equal(run('by-import.mjs', imports + use), 'development true function idle function');
  assert.equal(run('by-require.cjs', requires + use), 'development true function idle function');
});

/** What a server component does with a page of the kit: it renders where there is no window. */
const renderUse = `
  const page = createElement(Call, { room: new Room({ url: 'http://localhost', token: 'x' }), title: 'Standup' });
  const list = createElement(Chat, { conversation: null, userId: 'ada' });
  console.log(typeof window, renderToString(page) !== undefined, renderToString(list).includes('parley-chat'));`;

test('[PKG-2] the kit is rendered on a server, by import and by require, and says that it is for the client', () => {
  const from = { '{ Room }': '@parley/client', '{ Call, Chat }': '@parley/react' };
  const react = { '{ createElement }': 'react', '{ renderToString }': 'react-dom/server' };
  const lines = Object.entries({ ...from, ...react });
  const imports = lines.map(([names, name]) => `import ${names} from '${name}';`).join('\n');
  const requires = lines.map(([names, name]) => `const ${names} = require('${name}');`).join('\n');
  assert.equal(run('render.mjs', imports + renderUse), 'undefined true true');
  assert.equal(run('render.cjs', requires + renderUse), 'undefined true true');
  for (const file of ['index.js', 'index.cjs']) {
    const code = readFileSync(join(project, 'node_modules/@parley/react/dist', file), 'utf8');
    // A directive holds only before everything else.
    assert.match(
      code,
      /^(?:\/\/.*\n|['"]use strict['"];?\n|Object\.defineProperty\(exports[^\n]*\n)*['"]use client['"]/,
      file,
    );
  }
});

/** What comes with TypeScript is not for us to check, and is most of what there is. */
const withoutOwnLibraries = { skipDefaultLibCheck: true };

const typedUse = `
import { Room } from '@parley/client';
import { Chat, type Message } from '@parley/client/chat';
import { Call, type CallProps, Chat as ChatView, useParticipants } from '@parley/react';
import { type CreateRoom, Parley, type Room as RoomRecord, verifyWebhook } from '@parley/server';
export const call: CallProps = { hasPreJoin: false, room: new Room({ url: '', token: '' }), onJoin: ({ name }) => console.log(name) };
// @ts-expect-error there is no such property
export const wrong: CallProps = { ...call, tilte: 'x' };
export const parts: (string | null)[] = [Call(call), ChatView({ conversation: null, userId: 'ada' })].map((part) => part?.key ?? null);
export const People = ({ room }: { room: Room }) => useParticipants(room).map(({ name }) => name).join();
export const draft: CreateRoom = { name: 'standup' };
export async function use(parley: Parley, room: Room, chat: Chat): Promise<(string | null)[]> {
  const made: RoomRecord = await parley.rooms.create(draft);
  // @ts-expect-error there is no such field
  await parley.rooms.create({ nmae: 'x' });
  for await (const { senderId, text } of parley.chat.messages.list(made.name)) console.log(senderId, text);
  room.on('trackSubscribed', (track, from) => console.log(track.kind, from.identity));
  const messages: readonly Message[] = (await chat.join('standup')).messages.getSnapshot();
  const event = verifyWebhook('', {}, 'whsec_');
  return event.type === 'message.created' ? [event.data.message.id] : messages.map(({ senderId }) => senderId);
}
`;

test('[PKG-2] it compiles in a strict project, resolved as bundlers and as Node do, from a module and from CommonJS', () => {
  for (const name of ['use.ts', 'use.cts']) writeFileSync(join(project, name), typedUse);
  const paths = { react: [resolve('node_modules/@types/react')] };
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    ...withoutOwnLibraries,
    lib: ['es2023', 'dom', 'dom.iterable', 'esnext.disposable'],
    paths,
  };
  const ways = {
    bundler: { module: 'esnext', files: ['use.ts'] },
    node16: { module: 'node16', files: ['use.ts', 'use.cts'] },
  };
  for (const [moduleResolution, { module, files }] of Object.entries(ways)) {
    const config = { compilerOptions: { ...options, target: 'es2022', types: [], module, moduleResolution }, files };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
    const tsc = resolve('node_modules/.bin/tsc');
    const { status, stdout } = spawnSync(tsc, ['-p', '.'], { cwd: project, encoding: 'utf8' });
    assert.deepEqual([status, stdout], [0, ''], moduleResolution);
  }
});

test('[SDK-87] a bot compiles with the types of Node alone, without those of a browser', () => {
  copyFileSync('e2e/bots/typed-bot.ts', join(project, 'typed-bot.ts'));
  const config = {
    compilerOptions: {
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      ...withoutOwnLibraries,
      target: 'es2022',
      lib: ['es2023'],
      types: ['node'],
      typeRoots: [resolve('node_modules/@types')],
      module: 'node16',
    },
    files: ['typed-bot.ts'],
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
  const { status, stdout } = spawnSync(resolve('node_modules/.bin/tsc'), ['-p', '.'], {
    cwd: project,
    encoding: 'utf8',
  });
  assert.deepEqual([status, stdout], [0, '']);
});

test('[PKG-2] Vite bundles it, and the kit with its style sheet', async () => {
  writeFileSync(join(project, 'index.html'), '<script type="module" src="/page.jsx"></script>');
  const page = `
    import { Room } from '@parley/client';
    import { Call } from '@parley/react';
    import '@parley/react/styles.css';
    window.page = <Call room={new Room({ url: location.origin, token: 'x' })} />;`;
  writeFileSync(join(project, 'page.jsx'), page);
  const result = await build({ root: project, logLevel: 'silent', configFile: false, build: { write: false } });
  assert.ok('output' in result);
  const code = result.output.map((file) => (file.type === 'chunk' ? file.code : file.source)).join('\n');
  assert.ok(code.includes('svc.rtc.v1') && code.includes('parley-prejoin'));
  assert.match(code, /@layer parley/);
});

test('[PKG-9] npm create parley writes the application of parley init, asks nothing and writes over nothing', () => {
  const env = { ...process.env, SVC_API_KEY: 'svk_dev_a.b', DATA_DIR: join(work, 'none') };
  const create = (...args: string[]) =>
    spawnSync(process.execPath, ['node_modules/create-parley/src/main.js', ...args], {
      cwd: project,
      env,
      encoding: 'utf8',
    });
  const { status, stdout } = create('app');
  assert.equal(status, 0);
  assert.match(stdout, /cd app && npm install && npm start/);
  assert.match(readFileSync(join(project, 'app', '.env'), 'utf8'), /SVC_API_KEY=svk_dev_a\.b\nWEBHOOK_SECRET=whsec_/);
  for (const name of ['backend.js', 'main.jsx', 'package.json', '.gitignore'])
    assert.ok(existsSync(join(project, 'app', name)), name);
  const again = create('app');
  assert.deepEqual([again.status, again.stdout], [2, '']);
  assert.match(again.stderr, /not empty/);
  assert.equal(create('--help').status, 2);
  const { bin } = JSON.parse(readFileSync(join(project, 'node_modules/create-parley/package.json'), 'utf8'));
  // What `npm create parley` runs.
  assert.ok(existsSync(join(project, 'node_modules/.bin', ...Object.keys(bin))));
});

/**
 * Gzipped size of what a page loads for one entry of the installed package; parts that are asked for later apart, and
 * what is `external` not counted.
 */
async function weigh(
  entry: string,
  external: readonly RegExp[] = [],
  names = '*',
): Promise<{ bytes: number; laterBytes: number; code: string }> {
  const input = join(project, `weigh-${entry.replaceAll('/', '-')}.js`);
  writeFileSync(input, `export ${names} from '${entry}';`);
  const bundle = await rolldown({ input, platform: 'browser', external: [...external] });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  const chunks = output.filter((file) => file.type === 'chunk');
  // Rolldown alone leaves annotations in; no build that a page loads has them, Vite's neither.
  const codeOf = (chunk: (typeof chunks)[number]): string => chunk.code.replaceAll('/* @__PURE__ */ ', '');
  const later = chunks.filter(({ isDynamicEntry }) => isDynamicEntry).map(codeOf);
  const code = chunks.filter(({ isDynamicEntry }) => !isDynamicEntry).map(codeOf);
  const size = (texts: string[]): number => gzipSync(texts.join('\n'), { level: 9 }).length;
  return { bytes: size(code), laterBytes: later.length > 0 ? size(later) : 0, code: code.join('\n') };
}

test('[SDK-7] the chat client is at most 13 kB gzipped and carries no schema library', async (context) => {
  const { bytes, laterBytes, code } = await weigh('@parley/client/chat');
  context.diagnostic(`chat: ${bytes} bytes gzipped; IndexedDB queue, when asked for: ${laterBytes}`);
  assert.ok(code.includes('svc.chat.v1'), 'the bundle has the client in it');
  assert.ok(bytes <= 13_000, `${bytes} bytes`);
  assert.ok(!code.includes('~kind') && !code.includes('typebox'));
});

test('[SDK-7] rooms, streams and chat together are at most 32 kB gzipped', async (context) => {
  const { bytes, code } = await weigh('@parley/client');
  context.diagnostic(`rooms: ${bytes} bytes gzipped`);
  assert.ok(code.includes('svc.rtc.v1') && code.includes('svc.chat.v1'));
  assert.ok(bytes <= 32_000, `${bytes} bytes`);
  assert.ok(!code.includes('~kind') && !code.includes('typebox'));
});

const kitExternals = [/^react/, /^@parley\/client/];

test('[KIT-1] the React kit is at most 25 kB gzipped without the client, and brings its style sheet along', async (context) => {
  const { bytes, laterBytes, code } = await weigh('@parley/react', kitExternals);
  context.diagnostic(`react kit: ${bytes} bytes gzipped; what is first opened later: ${laterBytes}`);
  assert.ok(laterBytes <= 2_500, `${laterBytes} bytes later`);
  assert.ok(code.includes('parley-'), 'the bundle has components in it');
  assert.ok(bytes <= 25_000, `${bytes} bytes`);
  const styles = join(project, 'node_modules/@parley/react/dist/styles');
  const sheet = readFileSync(join(styles, 'index.css'), 'utf8');
  const imported = [...sheet.matchAll(/@import "\.\/(\w+\.css)" layer\(parley\)/g)].map(([, name = '']) => name);
  assert.ok(imported.length >= 3, 'every sheet is in the layer');
  for (const name of imported) assert.ok(readFileSync(join(styles, name), 'utf8').length > 0);
});

test('[KIT-40] mentions are at most 2 kB beside the kit', async (context) => {
  const { bytes, code } = await weigh('@parley/react/mentions', kitExternals);
  context.diagnostic(`mentions: ${bytes} bytes gzipped`);
  assert.ok(code.includes('parley-mention') && !code.includes('parley-chat'));
  assert.ok(bytes <= 2_000, `${bytes} bytes`);
});

test('[KIT-1] a part that is used alone brings neither chat nor call with it', async (context) => {
  const part = await weigh('@parley/react', kitExternals, '{ Tile }');
  context.diagnostic(`a tile: ${part.bytes} bytes gzipped`);
  assert.ok(part.code.includes('parley-tile'));
  assert.ok(!part.code.includes('parley-chat') && !part.code.includes('parley-prejoin'));
  assert.ok(part.bytes <= 8_000, `${part.bytes} bytes`);
});
