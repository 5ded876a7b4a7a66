/**
 * Proof of a rolling update: a server and a media node of an older commit beside those of this one, on one PostgreSQL
 * and one Redis, with calls and chat between people of both; then the older ones are stopped, one by one, and nobody is
 * lost.
 *
 *   node tools/proof/rolling-update.ts [--older commit] [--folder DIR]
 *
 * Unless it is named, the older one is the last commit that does not know the newest migration. It is checked out with
 * its own packages; in a folder that is named, it stays for the next time. PostgreSQL and Redis are the proof's own and
 * need to be installed.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createApi } from '@parley/server';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { type OwnPostgres, startOwnPostgres } from '../../apps/server/testkit/kit/own-postgres.ts';
import { type OwnRedis, startOwnRedis } from '../../apps/server/testkit/kit/redis.ts';
import { startTcpProxy } from '../../apps/server/testkit/peers/tcp-proxy.ts';
import { smoke } from './machine/smoke.ts';
import { createSteps } from './machine/steps.ts';
import { type AcrossCall, startCallAcross } from './rolling/calls.ts';
import { startTalk } from './rolling/talk.ts';
import * as versions from './rolling/versions.ts';

const repository = join(import.meta.dirname, '..', '..');
const { values } = parseArgs({ options: { older: { type: 'string' }, folder: { type: 'string' } } });
const older = values.older ?? versions.commitBeforeNewestMigration();
const MESSAGES = 50;

const steps = createSteps();
const work = mkdtempSync(join(tmpdir(), 'parley-rolling-'));
const folder = values.folder ?? join(work, 'older');
const running: versions.Running[] = [];
const calls: AcrossCall[] = [];

/** What both versions are told. */
const shared = (postgres: OwnPostgres, redis: OwnRedis): Record<string, string> => ({
  DATABASE_URL: postgres.url,
  REDIS_URL: redis.url,
  SECRET_KEY: randomBytes(48).toString('base64'),
  SFU_REGISTRATION_SECRET: randomBytes(48).toString('base64'),
  SFU_ALLOWED_HOSTS: '127.0.0.1',
  TRUST_PROXY: '127.0.0.1',
});

async function startVersion(name: string, folder: string, env: Record<string, string>) {
  const server = await versions.startServer(name, folder, { dataDir: join(work, `data-${name}`), env });
  running.push(server);
  const startNode = async (): Promise<versions.Running> => {
    const { SFU_REGISTRATION_SECRET = '' } = env;
    const node = await versions.startNode(name, folder, { controlUrl: server.url, env: { SFU_REGISTRATION_SECRET } });
    running.push(node);
    await callOn(name, [server.url, server.url]);
    return node;
  };
  return { server, startNode };
}

let apiKey = '';

/** Once the media node of that name takes rooms; it goes on to the end. */
async function callOn(node: string, urls: [string, string]): Promise<void> {
  const api = createApi({ baseUrl: urls[0], credential: apiKey });
  const attempt = async (): Promise<void> => {
    const made = await startCallAcross(api, urls, node);
    calls.push(made);
    assert.equal(made.node(), node);
    await made.flows();
  };
  await eventually(attempt, { withinMs: 120_000, everyMs: 500 });
}

function keyOf({ dataDir }: versions.RunningServer): string {
  const [, key] = /SVC_API_KEY='(.+)'/.exec(readFileSync(join(dataDir, 'dev.env'), 'utf8')) ?? [];
  return key ?? assert.fail('no key was made');
}

async function prove(env: Record<string, string>): Promise<void> {
  if (!existsSync(folder)) versions.checkOut(older, folder);
  steps.done(`${versions.describeCommit(older)}: checked out with its packages`);

  const before = await startVersion('older', folder, env);
  apiKey = keyOf(before.server);
  const olderNode = await before.startNode();
  steps.done(`the older server and its media node run (${await smoke(before.server.url, apiKey)})`);

  const after = await startVersion('newer', repository, env);
  steps.done('this version has migrated the database and runs beside it');
  const [at, beside] = [before.server.url, after.server.url];
  for (const url of [at, beside]) await smoke(url, apiKey);
  steps.done("a call and a chat at each, with the older one's key and media node");

  await after.startNode();
  for (const node of ['older', 'newer'])
    for (const urls of [
      [at, beside],
      [beside, at],
    ] as [string, string][])
      await callOn(node, urls);
  steps.done('calls between a person at each server, both ways, on either media node');

  // What clients know: it leads to the older server first, then to this one.
  const balancer = await startTcpProxy(at);
  const talk = await startTalk([balancer.url, beside], apiKey);
  await talk.write(MESSAGES);
  await talk.settled();
  steps.done(`${2 * MESSAGES} messages between a person at each server: all at both, once, in one order`);

  const writing = talk.write(MESSAGES);
  balancer.retarget(beside);
  assert.equal(await before.server.stop(), 0);
  for (const made of calls) await made.resumeAt(beside);
  await writing;
  await talk.settled();
  steps.done(`the older server was stopped: ${calls.length} calls went on, ${2 * MESSAGES} messages got through`);

  const stopping = olderNode.stop();
  const moving = calls.filter(({ node }) => node() === 'older');
  for (const made of moving) await made.rejoinAt(beside);
  for (const { node } of calls) assert.equal(node(), 'newer');
  assert.equal(await stopping, 0);
  steps.done(`the older media node was stopped: its ${moving.length} calls are on the newer one`);
  steps.done(`a call and a chat afterwards (${await smoke(beside, apiKey)})`);
  await talk.end();
  await balancer.close();
}

const postgres = await startOwnPostgres();
const redis = await startOwnRedis();
try {
  await prove(shared(postgres, redis));
  console.table(steps.rows);
} catch (error) {
  for (const { name, output } of running) console.error(`--- ${name}\n${output().slice(-4_000)}`);
  throw error;
} finally {
  for (const made of calls) made.end();
  for (const one of running.reverse()) await one.stop();
  await redis.kill();
  await postgres.remove();
  if (values.folder === undefined) versions.removeCheckOut(folder);
  rmSync(work, { recursive: true, force: true });
}
// Calls that were tried before a media node took rooms leave sockets for media behind.
process.exit();
