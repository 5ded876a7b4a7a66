import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { eventually, processStartMs } from './eventually.ts';
import { ownPort } from './ports.ts';

/** A PostgreSQL of our own, to be stopped, crashed and starved. */
export interface OwnPostgres {
  /** Of its empty database. */
  url: string;
  isRunning(): boolean;
  /** Starts it if it has ended; resolves when it takes connections. */
  start(): Promise<void>;
  /** `fast` ends it in order; `immediate` is a crash: what was not on disk is gone. Resolves when it has ended. */
  stop(how: 'fast' | 'immediate'): Promise<void>;
  /** Lets all of it hang: connections stay open and are taken, and nothing is answered. */
  freeze(): void;
  thaw(): void;
  /** Ends it and removes its data. */
  remove(): Promise<void>;
}

export interface OwnPostgresOptions {
  /** An empty folder for the data; a temporary one by default. */
  folder?: string;
  /** Settings beyond the defaults. */
  settings?: Record<string, string>;
}

const installed = '/usr/lib/postgresql';

/** Where the newest server's programs are; undefined where there is none. */
function binFolder(): string | undefined {
  if (!existsSync(installed)) return undefined;
  const versions = readdirSync(installed).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(installed, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
}

export const hasPostgresServer = binFolder() !== undefined;

/** PostgreSQL does not run as root: then it runs as the user it was installed with. */
function ownUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: idOf('-u'), gid: idOf('-g') };
}

export async function startOwnPostgres({
  folder: given,
  settings = {},
}: OwnPostgresOptions = {}): Promise<OwnPostgres> {
  const folder = given ?? mkdtempSync(join(tmpdir(), 'parley-postgres-'));
  const cluster = makeData(folder, 'initdb', ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync']);
  return await startOn(await ownPort(), { ...cluster, settings, isOurs: given === undefined });
}

/** A server that follows another one by streaming replication. */
export async function startOwnReplica(primary: OwnPostgres): Promise<OwnPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-replica-'));
  const cluster = makeData(folder, 'pg_basebackup', ['-d', primary.url, '-R', '-X', 'stream', '-c', 'fast']);
  return await startOn(await ownPort(), { ...cluster, settings: {}, isOurs: true });
}

/** The data of a cluster, made by one of the server's programs. */
function makeData(folder: string, program: string, args: readonly string[]) {
  const bin = binFolder();
  if (bin === undefined) throw new Error(`no PostgreSQL server under ${installed}`);
  const user = ownUser();
  chmodSync(folder, 0o700);
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const made = spawnSync(join(bin, program), ['-D', data, ...args], { ...user, cwd: folder, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`${program}: ${made.stderr}`);
  return { bin, folder, data, user };
}

interface Cluster {
  bin: string;
  folder: string;
  data: string;
  user: { uid?: number; gid?: number };
  settings: Record<string, string>;
  /** The folder is temporary. */
  isOurs: boolean;
}

async function startOn(port: number, { bin, folder, data, user, settings, isOurs }: Cluster): Promise<OwnPostgres> {
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const all = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: folder, ...settings };
  const args = ['-D', data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  let child: ChildProcess | undefined;
  const isRunning = (): boolean => child !== undefined && child.exitCode === null && child.signalCode === null;

  async function stop(how: 'fast' | 'immediate'): Promise<void> {
    if (!child || !isRunning()) return;
    const ended = once(child, 'exit');
    child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await ended;
  }

  /** Each connection has a process of its own. */
  function signalAll(signal: NodeJS.Signals): void {
    const { stdout } = spawnSync('pgrep', ['-P', String(child?.pid)], { encoding: 'utf8' });
    child?.kill(signal);
    for (const pid of stdout.split('\n').filter(Boolean)) process.kill(Number(pid), signal);
  }

  const own: OwnPostgres = {
    url,
    isRunning,
    async start() {
      if (!isRunning()) child = spawn(join(bin, 'postgres'), args, { ...user, cwd: folder, stdio: 'ignore' });
      // Not to be waited for when it has ended: another one may answer there.
      await eventually(async () => (isRunning() ? await answers(url) : undefined), { withinMs: processStartMs });
      if (!isRunning()) throw new Error(`PostgreSQL ended at once: port ${port} is in use.`);
    },
    stop,
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    async remove() {
      await stop('immediate');
      rmSync(isOurs ? folder : data, { recursive: true, force: true });
    },
  };
  await own.start();
  return own;
}

async function answers(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  client.on('error', () => {}); // connect() rejects with it
  await client.connect();
  await client.end();
}
