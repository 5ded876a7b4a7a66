import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../apps/server/testkit/kit/eventually.ts';
import { ownPort } from '../../../apps/server/testkit/kit/ports.ts';
import { bareEnv } from '../../../apps/server/testkit/kit/process.ts';

const repository = join(import.meta.dirname, '..', '..', '..');
const migrations = 'apps/server/migrations';
const git = (...args: string[]): string => execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim();

/** The last commit that does not know the newest migration. */
export function commitBeforeNewestMigration(): string {
  const newest = readdirSync(join(repository, migrations)).sort().at(-1) ?? '';
  return git('log', '-1', '--diff-filter=A', '--format=%H^', '--', join(migrations, newest));
}

export const describeCommit = (commit: string): string => git('log', '-1', '--format=%h, %as', commit);

/** That commit with its own packages, in a new folder; pages are not built, since nobody looks at them. */
export function checkOut(commit: string, folder: string): void {
  git('worktree', 'add', '--detach', folder, commit);
  const lockOf = (root: string): string => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lockOf(folder) === lockOf(repository)) linkPackages(folder);
  else execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' });
}

/** The same files, as hard links: workspaces are symbolic ones inside of it, which then lead to that commit's. */
function linkPackages(folder: string): void {
  const workspaces = ['packages', 'apps'].flatMap((parent) =>
    readdirSync(join(repository, parent)).map((name) => join(parent, name)),
  );
  for (const place of ['.', 'bench', ...workspaces]) {
    const packages = join(repository, place, 'node_modules');
    if (existsSync(packages) && existsSync(join(folder, place)))
      execFileSync('cp', ['-al', packages, join(folder, place, 'node_modules')]);
  }
}

export function removeCheckOut(folder: string): void {
  if (existsSync(folder)) git('worktree', 'remove', '--force', folder);
}

export interface Running {
  name: string;
  child: ChildProcess;
  /** Everything it printed. */
  output(): string;
  stop(): Promise<number | null>;
}

export interface RunningServer extends Running {
  url: string;
  dataDir: string;
}

function start(name: string, folder: string, file: string, env: Record<string, string>): Running {
  const child = spawn(process.execPath, [file], { cwd: folder, env: { ...bareEnv(), ...env } });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      text += chunk;
    });
  return {
    name,
    child,
    output: () => text,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
}

/** A server without a media node; resolves when it is ready. */
export async function startServer(
  name: string,
  folder: string,
  { dataDir, env }: { dataDir: string; env: Record<string, string> },
): Promise<RunningServer> {
  const port = await ownPort();
  const own = { PORT: String(port), DATA_DIR: dataDir, SFU_EMBEDDED: 'false' };
  const server = start(name, folder, 'apps/server/src/main.ts', { ...env, ...own });
  const url = `http://127.0.0.1:${port}`;
  const isReady = async (): Promise<boolean> => {
    if (server.child.exitCode !== null) return true;
    return (await fetch(`${url}/readyz`)).ok && server.output().includes('ready in');
  };
  await eventually(isReady, { withinMs: 180_000, everyMs: 100 });
  if (server.child.exitCode !== null) throw new Error(`the ${name} server ended: ${server.output()}`);
  return { ...server, url, dataDir };
}

/** A media node of a region of its own, by the same name. */
export async function startNode(
  name: string,
  folder: string,
  { controlUrl, env }: { controlUrl: string; env: Record<string, string> },
): Promise<Running> {
  const control = await ownPort();
  return start(name, folder, 'apps/sfu/src/main.ts', {
    ...env,
    SFU_NAME: name,
    SFU_REGION: name,
    SFU_PROCESSES: '1',
    SFU_DRAIN_SECONDS: '1',
    CONTROL_URL: controlUrl,
    SFU_INTERNAL_PORT: String(control),
    SFU_INTERNAL_URL: `http://127.0.0.1:${control}`,
    SFU_UDP_PORT: String(await ownPort()),
    SFU_TURN_PORT: String(await ownPort()),
    SFU_ANNOUNCED_HOST: '127.0.0.1',
  });
}
