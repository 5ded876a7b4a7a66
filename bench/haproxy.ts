import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import { ownPort } from '../apps/server/testkit/kit/ports.ts';

/** Whether the balancer of this comparison is installed; Debian has it as `haproxy`. */
export const hasHaproxy = (): boolean => spawnSync('haproxy', ['-v'], { stdio: 'ignore' }).error === undefined;

/** A plain balancer: whole TCP connections, to each server in turn, nothing looked at. */
interface Haproxy {
  port: number;
  stop(): Promise<void>;
}

export async function startHaproxy(serverPorts: readonly number[]): Promise<Haproxy> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-haproxy-'));
  const port = await ownPort();
  const file = join(folder, 'haproxy.cfg');
  const servers = serverPorts.map((one, at) => `  server s${at} 127.0.0.1:${one}\n`).join('');
  await writeFile(
    file,
    `global
  maxconn 4000
defaults
  mode tcp
  timeout connect 5s
  timeout client 5m
  timeout server 5m
listen chat
  bind 127.0.0.1:${port}
  balance roundrobin
${servers}`,
  );
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
  process.once('exit', () => child.kill('SIGKILL'));
  await eventually(async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
  });
  return {
    port,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
