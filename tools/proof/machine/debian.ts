import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../apps/server/testkit/kit/eventually.ts';

/** Who the proofs are on a fresh machine: an ordinary user. */
const uid = 1000;
export const home = '/home/ada';

/** What the README says of a bare Debian. */
export const readmeSuite = 'trixie';
export const readmePackages = 'nodejs npm';

/** Runs a program and shows what it prints; it throws when the program fails. */
export const show = (program: string, ...args: string[]): void =>
  void execFileSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });

/** Why this cannot run here, or null. */
export function missingForDebian(): string | null {
  if (process.getuid?.() !== 0) return 'debootstrap and namespaces need root';
  const missing = ['debootstrap', 'unshare', 'nsenter'].filter((name) => !hasProgram(name));
  return missing.length > 0 ? `not installed: ${missing.join(', ')} (apt-get install debootstrap util-linux)` : null;
}

export const hasProgram = (name: string): boolean =>
  (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, name)));

/** A Debian with its smallest set of packages and these, and an ordinary user, in a new folder. */
export function makeDebian(root: string, suite: string, packages: readonly string[]): void {
  show('debootstrap', '--variant=minbase', suite, root);
  // How this machine reaches the internet: its name server, and its authorities where a proxy is in between.
  cpSync('/etc/resolv.conf', join(root, 'etc/resolv.conf'), { dereference: true });
  show('chroot', root, 'apt-get', 'install', '--yes', '--no-install-recommends', ...packages);
  const own = '/usr/local/share/ca-certificates';
  if (existsSync(own)) cpSync(own, join(root, own), { recursive: true });
  if (existsSync(join(root, 'usr/sbin/update-ca-certificates'))) show('chroot', root, 'update-ca-certificates');
  show('chroot', root, 'useradd', '--create-home', '--uid', String(uid), 'ada');
}

/** The repository as it is committed, in a folder. */
export function unpackHead(repository: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  execFileSync('sh', ['-c', 'git -C "$0" archive HEAD | tar -x -C "$1"', repository, folder]);
}

export function giveToUser(folder: string): void {
  chownSync(folder, uid, uid);
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    chownSync(join(folder, path), uid, uid);
}

export interface Process {
  pid: number;
  command: string;
}

/** Processes and mounts of their own on the files of `root`; with a network that is its loopback only, or this machine's. */
export interface Machine {
  /** Runs a command line as the ordinary user and shows what it prints; `onOutput` gets it too. */
  run(command: string, onOutput?: (text: string) => void): ChildProcess;
  /** The same to its end; gives what it printed and throws when it fails. */
  ran(command: string): Promise<string>;
  /** What runs in it now. */
  processes(): Process[];
  stop(): Promise<void>;
}

export async function startMachine(root: string, network: 'own' | 'shared'): Promise<Machine> {
  const prepare = `mount -t proc proc "$0/proc"; ${network === 'own' ? 'ip link set lo up;' : ''} exec sleep infinity`;
  const namespaces = ['--fork', '--kill-child', '--pid', '--mount', ...(network === 'own' ? ['--net'] : [])];
  const outer = spawn('unshare', [...namespaces, 'sh', '-c', prepare, root], { stdio: 'inherit' });
  const first = await eventually(() => {
    const [pid] = childrenOf(outer.pid ?? 0);
    if (pid === undefined || !commandOf(pid).startsWith('sleep')) throw new Error('the machine has not started');
    return pid;
  });
  const inside = ['--target', String(first), '--pid', '--mount', ...(network === 'own' ? ['--net'] : [])];
  const clean = ['env', '-i', `HOME=${home}`, 'PATH=/usr/local/bin:/usr/bin:/bin', 'LANG=C.UTF-8'];
  const run: Machine['run'] = (command, onOutput = () => {}) => {
    const program = ['chroot', `--userspec=${uid}:${uid}`, root, ...clean, 'sh', '-c', command];
    const child = spawn('nsenter', [...inside, ...program], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        process.stdout.write(chunk);
        onOutput(String(chunk));
      });
    return child;
  };
  return {
    run,
    async ran(command) {
      let text = '';
      const [code] = (await once(
        run(command, (more) => {
          text += more;
        }),
        'close',
      )) as [number | null];
      if (code !== 0) throw new Error(`${command} ended with ${code}`);
      return text;
    },
    processes: () => processesBeside(first).filter(({ pid }) => pid !== first),
    async stop() {
      const ended = once(outer, 'exit');
      process.kill(first, 'SIGKILL');
      await ended;
    },
  };
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

const commandOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();

/** Living processes with the same table of processes. */
function processesBeside(first: number): Process[] {
  const table = readlinkSync(`/proc/${first}/ns/pid`);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const isOurs = readlinkSync(`/proc/${name}/ns/pid`) === table;
        const isDead = /^State:\s+Z/m.test(readFileSync(`/proc/${name}/status`, 'utf8'));
        return isOurs && !isDead ? [{ pid: Number(name), command: commandOf(Number(name)) }] : [];
      } catch {
        // It ended meanwhile.
        return [];
      }
    });
}
