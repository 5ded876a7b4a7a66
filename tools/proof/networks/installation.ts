/** One machine in production, as the guide starts it: one port for everything, certificate by files, media node beside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Api, createApi } from '@parley/server';
import { eventually } from '../../../apps/server/testkit/kit/eventually.ts';
import { gatewayOf, HOST, SERVER } from './namespaces.ts';

export const PUBLIC_URL = `https://${HOST}`;
const FIRST_UDP_PORT = 4443;
const TURN_PORT = 3478;

interface Inside {
  child: ChildProcess;
  output(): string;
  stop(): Promise<void>;
}

/** Runs a file of ours in a namespace. */
function runInside(namespace: string, file: string, args: string[], variables: Record<string, string>): Inside {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const env = { PATH: process.env['PATH'], ...variables };
  const command = ['netns', 'exec', namespace, process.execPath, path, ...args];
  const child = spawn('ip', command, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      text += chunk;
    });
  return {
    child,
    output: () => text,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
      await ended;
      clearTimeout(timer);
    },
  };
}

export interface Installation {
  /** Of a project's backend. */
  api: Api;
  output(): string;
  stop(): Promise<void>;
}

export async function startInstallation(certificate: { cert: string; key: string }): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-networks-'));
  const server = runInside(SERVER.namespace, '../../../apps/server/src/main.ts', [], {
    NODE_ENV: 'production',
    PUBLIC_URL,
    TLS_CERT: certificate.cert,
    TLS_KEY: certificate.key,
    DATA_DIR: folder,
    // Calls of a test end with it.
    SFU_DRAIN_SECONDS: '0',
  });
  const stop = async (): Promise<void> => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const token = await eventually(
      async () => {
        const link = /first-account\?token=([\w.-]+)/.exec(server.output())?.[1];
        const isReady = (await fetch(`${PUBLIC_URL}/readyz`)).status === 200;
        if (link === undefined || !isReady) throw new Error('not yet');
        return link;
      },
      { withinMs: 60_000, everyMs: 200 },
    );
    return { api: await firstProject(token), output: server.output, stop };
  } catch (error) {
    await stop();
    throw new Error(`the server is not ready: ${server.output()}`, { cause: error });
  }
}

/** The first account by the printed link, and a key of its first project. */
async function firstProject(token: string): Promise<Api> {
  const body = { token, email: 'owner@example.com', password: 'correct horse battery' };
  const { accessToken } = await createApi({ baseUrl: PUBLIC_URL }).call('createFirstAccount', { body });
  const owner = createApi({ baseUrl: PUBLIC_URL, credential: accessToken });
  const { id } = await owner.call('createProject', { body: { name: 'Networks' } });
  const { key } = await owner.call('createApiKey', {
    projectId: id,
    body: { name: 'proof', environment: 'DEVELOPMENT' },
  });
  return createApi({ baseUrl: PUBLIC_URL, credential: key });
}

/** The process that makes the bad network bad. */
export async function startBadPath(): Promise<Inside> {
  const media = Array.from({ length: availableParallelism() }, (_, index) => FIRST_UDP_PORT + index);
  const path = runInside(gatewayOf('bad'), './bad-path.ts', [...media, TURN_PORT].map(String), {});
  await eventually(() => path.output().includes('ready'));
  return path;
}
