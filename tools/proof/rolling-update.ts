/**
 * Proof of a rolling update: a server and a media node of an older commit and of this one, side by side on one
 * PostgreSQL and one Redis, with calls and chat between people of both.
 *
 *   node tools/proof/rolling-update.ts [commit]
 *
 * By default the older one is the last that does not know the newest migration. It is checked out beside this one and
 * installed there. PostgreSQL is that of PARLEY_TEST_DATABASE_URL, Redis one of the proof's own (`redis-server`).
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Chat, type Conversation } from '@parley/client/chat';
import { Parley } from '@parley/server';
import pg from 'pg';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { ownPort } from '../../apps/server/testkit/kit/ports.ts';
import { embeddedNode } from '../../e2e/node-process.ts';
import { smoke } from './machine/smoke.ts';
import { createSteps } from './machine/steps.ts';

const repository = join(import.meta.dirname, '..', '..');
const MESSAGES = 50;
const git = (...args: string[]): string => execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim();
const migrations = 'apps/server/migrations';
const older = process.argv[2] ?? git('log', '-1', '--diff-filter=A', '--format=%H^', '--', migrations);
const base = process.env['PARLEY_TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test';

const steps = createSteps();
const work = mkdtempSync(join(tmpdir(), 'parley-rolling-'));
const running: ChildProcess[] = [];
const database = `parley_rolling_${process.pid}`;

interface Service {
  url: string;
  apiKey: string;
  process: ChildProcess;
}

/** What both versions are told, beside their ports and folders. */
const shared = {
  DATABASE_URL: base.replace(/\/[^/]*$/, `/${database}`),
  SECRET_KEY: 'a secret of the proof, which both have',
  SFU_REGISTRATION_SECRET: 'another secret, which nodes have too',
  LOG_LEVEL: 'warn',
};

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: base });
  await client.connect();
  await client.query(statement);
  await client.end();
}

async function startRedis(): Promise<string> {
  const port = await ownPort();
  running.push(
    spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', ''], { stdio: 'ignore' }),
  );
  return `redis://127.0.0.1:${port}`;
}

async function startService(name: string, folder: string, REDIS_URL: string): Promise<Service> {
  const port = await ownPort();
  const dataDir = join(work, `data-${name}`);
  const { PATH, HOME } = process.env;
  const own = { PORT: String(port), DATA_DIR: dataDir, SFU_NAME: name, SFU_EMBEDDED: 'true' };
  const env = { PATH, HOME, ...shared, ...(await embeddedNode()), ...own, REDIS_URL };
  const child = spawn(process.execPath, ['apps/server/src/main.ts'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  running.push(child);
  const url = `http://localhost:${port}`;
  await eventually(async () => assert.equal((await fetch(`${url}/readyz`)).status, 200), { withinMs: 120_000 });
  const [, apiKey = ''] = /SVC_API_KEY='(.+)'/.exec(readFileSync(join(dataDir, 'dev.env'), 'utf8')) ?? [];
  return { url, apiKey, process: child };
}

async function talkAs(
  service: Service,
  userId: string,
  name: string,
): Promise<{ chat: Chat; conversation: Conversation }> {
  const parley = new Parley({ apiKey: service.apiKey, baseUrl: service.url });
  const token = async (): Promise<string> => (await parley.chat.tokens.create({ userId })).token;
  const chat = new Chat({ url: service.url, token });
  await chat.connect();
  return { chat, conversation: await chat.join(name) };
}

/** One person at each server: what either writes, both have, once and in one order. */
async function talkAcross(one: Service, other: Service): Promise<void> {
  const parley = new Parley({ apiKey: one.apiKey, baseUrl: one.url });
  await parley.chat.conversations.create({ name: 'across', members: ['ada', 'bob'] });
  const people = [await talkAs(one, 'ada', 'across'), await talkAs(other, 'bob', 'across')];
  for (let index = 0; index < MESSAGES; index += 1)
    await Promise.all(people.map(({ conversation }, who) => conversation.send(`${who} ${index}`)));
  const texts = ({ conversation }: { conversation: Conversation }) =>
    conversation.messages.getSnapshot().map(({ text }) => text);
  await eventually(() => {
    for (const person of people) assert.equal(new Set(texts(person)).size, 2 * MESSAGES);
    assert.deepEqual(...(people.map(texts) as [string[], string[]]));
  });
  for (const { chat } of people) await chat.disconnect();
}

async function prove(): Promise<void> {
  const folder = join(work, 'older');
  git('worktree', 'add', '--detach', folder, older);
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' });
  steps.done(`${git('log', '-1', '--format=%h %s', older).slice(0, 60)}: installed`);
  await administer(`create database ${database}`);
  const redis = await startRedis();
  const before = await startService('older', folder, redis);
  steps.done(`the older version runs; ${await smoke(before.url, before.apiKey)}`);
  const after = await startService('newer', repository, redis);
  steps.done('this version has migrated the database and runs beside it');
  const both = new Parley({ apiKey: before.apiKey, baseUrl: after.url });
  assert.ok(await both.rooms.list({ limit: 1 }), 'a key of the older version');
  await talkAcross(before, { ...after, apiKey: before.apiKey });
  steps.done(`${2 * MESSAGES} messages between a person at each server, all at both`);
  for (const { url } of [before, after]) steps.done(`calls and chat at ${url}: ${await smoke(url, before.apiKey)}`);
  before.process.kill('SIGTERM');
  await once(before.process, 'exit');
  steps.done(`the older version has stopped; ${await smoke(after.url, before.apiKey)}`);
}

try {
  await prove();
  console.table(steps.rows);
} finally {
  for (const child of running) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await administer(`drop database if exists ${database} with (force)`);
  try {
    git('worktree', 'remove', '--force', join(work, 'older'));
  } catch {
    // It was never made.
  }
  rmSync(work, { recursive: true, force: true });
}
