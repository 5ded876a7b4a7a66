import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownPort } from '../../../apps/server/testkit/kit/ports.ts';
import { embeddedNode } from '../../../e2e/node-process.ts';

export interface Prepared {
  work: string;
  tarballs: readonly string[];
  nodes: readonly { path: string; version: string }[];
}

/** A project with these packages, without the scripts of any. */
export function install(folder: string, packages: readonly string[]): string {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const quiet = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  execFileSync('npm', ['install', ...quiet, ...packages], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  return folder;
}

/** The tarballs of the SDKs alone. */
export const sdkTarballs = ({ tarballs }: Prepared): string[] =>
  tarballs.filter((path) => /parley-(?:client|react|server)-\d/.test(path));

export interface Program {
  printed: string;
  stop(): Promise<void>;
}

/** Runs until what it prints matches; throws with what it said when it ends before. */
export async function start(
  [command, ...args]: readonly [string, ...string[]],
  { cwd, env = {}, until }: { cwd: string; env?: Record<string, string>; until: RegExp },
): Promise<Program> {
  const { PATH, HOME } = process.env;
  const child: ChildProcess = spawn(command, args, {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (text) => {
        printed += text;
        if (until.test(printed)) resolve();
      });
    child.once('exit', () => reject(new Error(`${command} ${args.join(' ')} ended: ${printed}`)));
  });
  return {
    printed,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Ports of its own for a service and its media node. */
export const ownPorts = async (): Promise<Record<string, string>> => ({
  ...(await embeddedNode()),
  PORT: String(await ownPort()),
});
