import { execFileSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import pg from 'pg';
import { adminUrl } from './chat-stage.ts';

/** Where figures come from. A ratio travels from machine to machine, a rate does not. */
export interface Machine {
  commit: string;
  cpu: string;
  cores: number;
  memoryGiB: number;
  node: string;
  postgres: string;
  /** Of the minute before, by others: more than the cores says that figures are worse than they are. */
  load?: number;
}

const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();

export async function readMachine(): Promise<Machine> {
  return {
    commit: git('rev-parse', '--short', 'HEAD'),
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version.slice(1),
    postgres: await postgresText(),
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
  };
}

/** True when the tree is not what the commit says; the figures themselves do not count. */
export const isDirty = (): boolean =>
  git('status', '--porcelain', '--', '.', ':!docs/benchmarks', ':!docs/guides/capacity.md') !== '';

async function postgresText(): Promise<string> {
  const client = new pg.Client({ connectionString: adminUrl });
  try {
    await client.connect();
    const shown = async (name: string): Promise<string> => (await client.query(`show ${name}`)).rows[0][name];
    const [version = ''] = (await shown('server_version')).split(' ');
    return `${version}, synchronous_commit ${await shown('synchronous_commit')}, fsync ${await shown('fsync')}`;
  } catch {
    // Those who need it will say so themselves.
    return 'not reachable';
  } finally {
    await client.end().catch(() => undefined);
  }
}
