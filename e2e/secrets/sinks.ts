import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { allRoutes, type Credential, type RouteRow } from '@parley/contract';
import { openEmbedded } from '../../apps/server/src/adapters/db/embedded/embedded.ts';
import type { Db } from '../../apps/server/src/core/db.ts';
import { raw, sql } from '../../apps/server/src/core/sql.ts';
import { bareEnv, spawnServer } from '../../apps/server/testkit/kit/process.ts';
import type { Piece } from './leak-search.ts';
import { chosen, type Mode } from './outside.ts';
import type { Scene } from './scene.ts';
import type { Workload } from './workload.ts';

export interface Sink {
  read(scene: Scene, workload: Workload): Piece[] | Promise<Piece[]>;
  /** Proves that something was read, where the dye cannot come: numbers and fixed pages. */
  dye?: string;
  /** Where it exists in one mode only. */
  only?: Mode;
}

/** Read while the service runs. */
export const liveSinks: Readonly<Record<string, Sink>> = {
  'every GET route': { read: readRoutes },
  'pages and metrics': { read: readPages, dye: 'parley_http_requests_total' },
  'answers and refusals': { read: ({ answers }) => answers },
  'socket frames': { read: (scene) => scene.frames() },
  'event stream': { read: (_scene, { stream }) => [{ where: 'event stream', text: stream.text() }] },
  mail: {
    read: ({ outside }) => outside.smtp.messages().map((letter) => ({ where: 'letter', text: JSON.stringify(letter) })),
  },
  'webhook receiver': {
    read: ({ outside }) =>
      outside.receiver.requests.map(({ path, headers, body }) => ({
        where: 'webhook request',
        text: `${path}\n${JSON.stringify(headers)}\n${body}`,
      })),
  },
  'doctor and refused starts': { read: readStarts },
};

/** Read after it was stopped in order. */
export const leftSinks: Readonly<Record<string, Sink>> = {
  'server output': { read: ({ server }) => linesOf(server.output()) },
  'media node output': { read: ({ node }) => [{ where: 'media node output', text: node.output() }] },
  traces: {
    read: ({ outside: { collector } }) => [
      { where: 'spans', text: JSON.stringify(collector.spans) },
      { where: 'headers at the collector', text: JSON.stringify(collector.headers) },
    ],
  },
  Redis: {
    read: ({ outside }) => [{ where: 'Redis commands', text: outside.redis?.commands.join('\n') ?? '' }],
    only: 'production',
  },
  'database rows': { read: readRows },
  'data folder': { read: ({ dataDir }) => readFolder(dataDir, ''), only: 'embedded' },
};

/** What the logger wrote apart from what was printed for the developer. */
const linesOf = (output: string): Piece[] =>
  output.split('\n').map((text) => ({ where: text.startsWith('{') ? 'log line' : 'printed line', text }));

/** Every route that reads, once by each credential that it takes. */
async function readRoutes(scene: Scene, workload: Workload): Promise<Piece[]> {
  const before = scene.answers.length;
  const problems: string[] = [];
  const ids: Record<string, string> = workload.ids;
  const holders: Partial<Record<Credential, string>> = {
    apiKey: workload.keys.apiKey,
    session: workload.account.accessToken,
    chatToken: workload.chat.refreshedToken,
  };
  for (const [name, { at, by, query, streams }] of Object.entries(allRoutes) as [string, RouteRow][]) {
    if (!at.startsWith('GET ') || streams !== undefined) continue;
    const path = at.slice(4).replaceAll(/\{(\w+)\}/g, (_, param: string) => encodeURIComponent(ids[param] ?? param));
    for (const credential of by) {
      // A key acts for whom it names; a token for its own user.
      const wanted = new URLSearchParams();
      if (query?.properties['userId'] && credential === 'apiKey') wanted.set('userId', workload.ids.userId);
      if (query?.required?.includes('q')) wanted.set('q', scene.dye);
      const authorization = `Bearer ${holders[credential] ?? ''}`;
      const answer = await scene.fetch(`${scene.url}${path}?${wanted}`, { headers: { authorization } });
      if (!answer.ok) problems.push(`${name} by ${credential}: ${answer.status} ${await answer.text()}`);
    }
  }
  assert.deepEqual(problems, [], 'every object of the workload exists');
  return scene.answers.slice(before);
}

const pages = ['/', '/login', '/docs', '/openapi.json', '/healthz', '/readyz', '/metrics', '/playground/room/demo'];
const developmentPages = ['/dev/events', '/dev/events.json'];

async function readPages(scene: Scene): Promise<Piece[]> {
  const paths = scene.mode === 'embedded' ? [...pages, ...developmentPages] : pages;
  const before = scene.answers.length;
  for (const path of paths) await scene.fetch(`${scene.url}${path}`);
  return scene.answers.slice(before);
}

const cli = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url));

/** What `parley doctor` and a refused start print for settings that are right, lead nowhere or are wrong. */
async function readStarts({ variables }: Scene): Promise<Piece[]> {
  const lost = { ...variables, ...lostSettings(variables) };
  const wrong = { ...variables, ...wrongSettings };
  const outputs = await Promise.all([
    doctor(variables),
    doctor(lost, '--json'),
    doctor(wrong),
    refusedStart(lost),
    refusedStart(wrong),
  ]);
  return outputs.map((text) => ({ where: 'doctor or start', text }));
}

const nowhere = '127.0.0.1:1';

const lostSettings = ({ DATA_DIR = '' }: Record<string, string>): Record<string, string> => ({
  DATA_DIR: `${DATA_DIR}-lost`,
  DATABASE_URL: `postgres://parley:${chosen.databasePassword}@${nowhere}/parley`,
  REDIS_URL: `redis://parley:${chosen.redisPassword}@${nowhere}`,
  SMTP_URL: `smtp://parley:${encodeURIComponent(chosen.smtpPassword)}@${nowhere}`,
  S3_ENDPOINT: `http://${nowhere}`,
  S3_BUCKET: 'parley',
  S3_ACCESS_KEY_ID: 'parley',
  S3_SECRET_ACCESS_KEY: chosen.s3Secret,
});

/** Each secret where the setting that holds it is wrong. */
const wrongSettings: Record<string, string> = {
  DATABASE_URL: `mysql://parley:${chosen.databasePassword}@${nowhere}/parley`,
  REDIS_URL: `parley:${chosen.redisPassword}@${nowhere}`,
  SMTP_URL: `parley:${chosen.smtpPassword}@${nowhere}`,
  SECRET_KEY: chosen.secretKey.slice(0, 31),
  SFU_REGISTRATION_SECRET: `${chosen.sfuSecret},${chosen.formerSfuSecret.slice(0, 31)}`,
  OTEL_EXPORTER_OTLP_HEADERS: chosen.traceHeader,
  S3_BUCKET: '',
  S3_SECRET_ACCESS_KEY: chosen.s3Secret,
  OAUTH_GITHUB_CLIENT_ID: '',
  OAUTH_GOOGLE_CLIENT_ID: '',
  OAUTH_OIDC_ISSUER: '',
  PLAYGROUND_API_KEY: chosen.playgroundSecret,
};

async function doctor(variables: Record<string, string>, ...options: string[]): Promise<string> {
  const env = { ...bareEnv(), ...variables };
  const child = spawn(process.execPath, [cli, 'doctor', ...options], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  return (await Promise.all([textOf(child.stdout), textOf(child.stderr)])).join('\n');
}

async function refusedStart(variables: Record<string, string>): Promise<string> {
  const { child, output } = spawnServer(variables);
  const [code] = await once(child, 'exit');
  if (code === 0) throw new Error(`the start was not refused: ${output()}`);
  return output();
}

/** Every row of every table as text, in which bytes are hex. */
async function readRows({ outside, dataDir }: Scene): Promise<Piece[]> {
  if (outside.database) return rowsOf(outside.database.db);
  const db = await openEmbedded({ folder: join(dataDir, 'db') });
  try {
    return await rowsOf(db);
  } finally {
    await db.close();
  }
}

async function rowsOf(db: Db): Promise<Piece[]> {
  const tables = await db.query<{ name: string }>(
    sql`select tablename as name from pg_tables where schemaname = 'public'`,
  );
  const pieces: Piece[] = [];
  for (const { name } of tables) {
    const rows = await db.query<{ text: string }>(sql`select t::text as text from ${raw(name)} t`);
    pieces.push(...rows.map(({ text }) => ({ where: `table ${name}`, text })));
  }
  return pieces;
}

/** Every file, byte for byte; what the database wrote down before it had a place for it is among them. */
async function readFolder(folder: string, below: string): Promise<Piece[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(below, entry.name);
      if (entry.isDirectory()) return readFolder(folder, path);
      return entry.isFile() ? [{ where: `file ${path}`, text: await readFile(join(folder, path)) }] : [];
    }),
  );
  return found.flat();
}
