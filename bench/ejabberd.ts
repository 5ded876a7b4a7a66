import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import { ownPort } from '../apps/server/testkit/kit/ports.ts';

/** Where Debian's `ejabberd` and `erlang-p1-pgsql` put what is needed. */
const schemaFile = '/usr/share/ejabberd/sql/pg.sql';

/** Which one is installed, with its driver for PostgreSQL; null when there is none. */
export function ejabberdVersion(): string | null {
  // A package that is known and not installed is shown without a version.
  const versionOf = (name: string): string =>
    String(spawnSync('dpkg-query', ['--show', name]).stdout)
      .trim()
      .split('\t')[1] ?? '';
  return versionOf('erlang-p1-pgsql') === '' ? null : versionOf('ejabberd') || null;
}

interface Ejabberd {
  pid: number;
  port: number;
  databaseUrl: string;
  /** The addresses of rooms with these names. */
  rooms(names: readonly string[]): string[];
  stop(): Promise<void>;
}

const host = 'localhost';

/** Group chat with an archive, both on PostgreSQL, and nothing else; no limits of any kind. */
function configOf(port: number, database: URL): string {
  return `
hosts: [${host}]
loglevel: error
listen: [{ port: ${port}, ip: "127.0.0.1", module: ejabberd_c2s, access: all, max_stanza_size: 262144 }]
auth_method: [anonymous]
anonymous_protocol: sasl_anon
allow_multiple_connections: true
default_db: sql
sql_type: pgsql
sql_server: "${database.hostname}"
sql_port: ${database.port || 5432}
sql_database: "${database.pathname.slice(1)}"
sql_username: "${database.username}"
sql_password: "${database.password}"
sql_pool_size: 10
modules:
  mod_mam: { db_type: sql, default: always }
  mod_muc:
    host: conference.${host}
    db_type: sql
    history_size: 0
    max_user_conferences: 1000
    default_room_options: { persistent: true, mam: true }
`;
}

/** One node with a database and a folder of its own, which go with it. */
export async function startEjabberd(adminUrl: string): Promise<Ejabberd> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-ejabberd-'));
  const port = await ownPort();
  const database = `ejabberd_${randomUUID().replaceAll('-', '')}`;
  const databaseUrl = new URL(database, adminUrl).href;
  await runSql(adminUrl, `create database ${database}`);
  await runSql(databaseUrl, readFileSync(schemaFile, 'utf8'));
  await writeFile(join(folder, 'ejabberd.yml'), configOf(port, new URL(databaseUrl)));
  // Its schedulers do not spin while they wait: spinning would count as work.
  const quiet = ['+sbwt', 'none', '+sbwtdcpu', 'none', '+sbwtdio', 'none'];
  const child = spawn('erl', [...quiet, '-noinput', '-mnesia', 'dir', `"${folder}/mnesia"`, '-s', 'ejabberd'], {
    cwd: folder,
    stdio: 'ignore',
    env: {
      ...process.env,
      ERL_LIBS: libraries(),
      EJABBERD_CONFIG_PATH: join(folder, 'ejabberd.yml'),
      EJABBERD_LOG_PATH: join(folder, 'ejabberd.log'),
      ERL_CRASH_DUMP: '/dev/null',
    },
  });
  process.once('exit', () => child.kill('SIGKILL'));
  await eventually(() => reached(port), { withinMs: 30_000, everyMs: 200 });
  return {
    pid: child.pid ?? 0,
    port,
    databaseUrl,
    rooms: (names) => names.map((name) => `${name}@conference.${host}`),
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await runSql(adminUrl, `drop database ${database} with (force)`);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function runSql(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text);
  await client.end();
}

/** The folder of Erlang libraries that ejabberd is in, as its own start script has it. */
function libraries(): string {
  const script = readFileSync('/usr/sbin/ejabberdctl', 'utf8');
  return /^ERL_LIBS='(.*)'$/m.exec(script)?.[1] ?? '';
}

async function reached(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.destroy();
}
