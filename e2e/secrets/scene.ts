import { randomBytes, randomInt } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { allRoutes } from '@parley/contract';
import { type Api, createApi } from '@parley/server';
import type { SocketClient } from '../../apps/server/testkit/clients/socket-client.ts';
import { eventually, processWorkMs } from '../../apps/server/testkit/kit/eventually.ts';
import { ownPort } from '../../apps/server/testkit/kit/ports.ts';
import { newDataDir, type ServerProcess, startProcess } from '../../apps/server/testkit/kit/process.ts';
import { type NodeProcess, startNodeProcess } from '../node-process.ts';
import type { Piece } from './leak-search.ts';
import { chosen, type Mode, type Outside, startOutside } from './outside.ts';

/** A whole installation, and a record of everything it ever answered. */
export interface Scene {
  mode: Mode;
  /** No secret: it goes wherever a secret could, and must be found in every sink. */
  dye: string;
  url: string;
  publicUrl: string;
  variables: Record<string, string>;
  dataDir: string;
  server: ServerProcess;
  node: NodeProcess;
  outside: Outside;
  /** Every answer so far. */
  answers: Piece[];
  /** Calls and keeps the answer, from another address each time. */
  fetch: typeof fetch;
  as(credential?: string): Api;
  /** Records the frames of a socket. */
  keep(socket: SocketClient): SocketClient;
  frames(): Piece[];
  close(): Promise<void>;
}

export async function startScene(mode: Mode): Promise<Scene> {
  const dye = `dye-${randomBytes(12).toString('hex')}`;
  const [port, parent] = await Promise.all([ownPort(), newDataDir()]);
  const [publicUrl, dataDir] = [`http://localhost:${port}`, join(parent, dye)];
  const outside = await startOutside(mode, { publicUrl, dye });
  const variables = { ...ownSettings(mode), ...outside.variables, PORT: String(port), PUBLIC_URL: publicUrl };
  const node = await startNodeProcess({ name: dye, secret: chosen.sfuSecret, controlUrl: `http://127.0.0.1:${port}` });
  // Before there is a server, so that the node has something to complain about.
  await eventually(() => node.output() !== '', { withinMs: processWorkMs });
  const server = await startProcess({ ...variables, DATA_DIR: dataDir });
  const answers: Piece[] = [];
  const sockets: SocketClient[] = [];
  const recording = createRecording(answers);
  return {
    mode,
    dye,
    url: server.url,
    publicUrl,
    variables: { ...variables, DATA_DIR: dataDir },
    dataDir,
    server,
    node,
    outside,
    answers,
    fetch: recording,
    as: (credential) =>
      createApi({ baseUrl: server.url, fetch: recording, ...(credential === undefined ? {} : { credential }) }),
    keep(socket) {
      sockets.push(socket);
      return socket;
    },
    frames: () =>
      sockets.flatMap(({ frames, closed }) => [
        ...frames.map((frame) => ({ where: `frame ${frame.type}`, text: JSON.stringify(frame) })),
        { where: 'close of a socket', text: JSON.stringify(closed) },
      ]),
    async close() {
      await server.kill();
      await node.kill();
      await outside.close();
      await rm(parent, { recursive: true, force: true });
    },
  };
}

const ownSettings = (mode: Mode): Record<string, string> => ({
  NODE_ENV: mode === 'production' ? 'production' : 'development',
  HOST: '127.0.0.1',
  LOG_LEVEL: 'debug',
  SFU_EMBEDDED: 'false',
  // The tests speak for many addresses.
  TRUST_PROXY: '127.0.0.1',
  AUTH_REQUIRE_VERIFIED_EMAIL: 'true',
  WEBHOOK_ALLOW_PRIVATE: 'true',
  SECRET_KEY: chosen.secretKey,
  SFU_REGISTRATION_SECRET: `${chosen.sfuSecret},${chosen.formerSfuSecret}`,
  RTC_TURN_URLS: 'turn:127.0.0.1:3478',
  RTC_TURN_SECRET: chosen.turnSecret,
});

/** `fetch`, but whatever comes back is kept. */
function createRecording(answers: Piece[]): typeof fetch {
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('x-forwarded-for', `10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`);
    const response = await fetch(input, { redirect: 'manual', ...init, headers });
    const where = `${response.status < 400 ? 'answer to' : 'refusal of'} ${routeOf(init?.method ?? 'GET', String(input))}`;
    const head = [...response.headers].map((header) => header.join(': ')).join('\n');
    answers.push({ where, text: `${head}\n\n${withoutPath(await response.clone().text())}` });
    return response;
  };
}

/** The envelope names the path that was asked for; its query is never part of it. */
const withoutPath = (body: string): string => body.replace(/"path":"[^"?]*"/, '"path":""');

const patterns = Object.entries(allRoutes).map(([name, { at }]) => {
  const [method, path = ''] = at.split(' ');
  return { name, method, path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`), isPlain: !path.includes('{') };
});

/** The route's name in the contract; method and first word of the path for what is none. */
function routeOf(method: string, url: string): string {
  const { pathname } = new URL(url);
  const fitting = patterns.filter((row) => row.method === method && row.path.test(pathname));
  const row = fitting.find(({ isPlain }) => isPlain) ?? fitting[0];
  return row?.name ?? `${method} /${pathname.split('/').slice(1, 3).join('/')}`;
}
