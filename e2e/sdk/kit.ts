import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { MintRtcToken, Room } from '@parley/contract';
import { type Api, createApi } from '@parley/server';
import type { Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { freePort } from '../../apps/server/testkit/kit/ports.ts';
import { startService, type TestService, type TestServiceOptions } from '../../apps/server/testkit/kit/service.ts';
import { startTcpProxy, type TcpProxy } from '../../apps/server/testkit/peers/tcp-proxy.ts';
import { freeUdpPort, startTestNode, type TestNode } from '../../apps/sfu/testkit/node.ts';
import { type Browser, launch } from '../browser.ts';
import { startUdpProxy, type UdpProxy } from '../udp-proxy.ts';
import type { Caller, RemoteView } from './page.ts';

type Sdk = typeof import('./page.ts');

declare global {
  interface Window {
    sdk: Sdk;
    caller: Caller;
    mintToken(): Promise<string>;
  }
}

export const speaker = { publish: true, publishData: true } as const;

/** One page in a room through the SDK. */
export interface CallPage {
  identity: string;
  page: Page;
  /** Token ids minted for it, newest last. */
  tokenIds: string[];
  join(): Promise<void>;
  setCamera(isOn: boolean): Promise<void>;
  setMicrophone(isOn: boolean): Promise<void>;
  log(): Promise<string[]>;
  tiles(): Promise<string[]>;
  state(): Promise<string>;
  view(identity: string): Promise<RemoteView>;
  /** Waits until more video of somebody is decoded than now. */
  watches(identity: string): Promise<void>;
}

/** Pages with the SDK in them. */
export interface Pages {
  /** What went wrong in any page: uncaught errors and rejections. */
  problems: string[];
  newRoom(): Promise<Room>;
  page(): Promise<Page>;
  /** A page in which nothing ran yet. */
  blankPage(): Promise<Page>;
  caller(room: Room, identity: string, options?: CallerOptions): Promise<CallPage>;
  close(): Promise<void>;
}

export interface PagesOptions {
  args?: string[];
  /** What the pages import as `sdk`. */
  script?: string;
}

export interface SdkKit extends Pages {
  service: TestService;
  node: TestNode;
  /** Of a project's backend. */
  api: Api;
  /** Between browsers and the server; and between browsers and the media node. */
  tcp: TcpProxy;
  udp: UdpProxy;
  /** The media node ends, and another takes its place. */
  replaceNode(): Promise<void>;
  /** Kills the process that carries media, as kill -9 does. */
  killMediaProcess(): void;
  /** The server ends, and another process goes on in its place. */
  replaceServer(): Promise<void>;
}

export interface CallerOptions {
  mint?: Partial<MintRtcToken>;
  room?: object;
}

/** A browser for a service that runs already. `api` is that of a project's backend. */
export async function startPages(url: string, api: Api, options: PagesOptions = {}): Promise<Pages> {
  const bundle = await buildPage(options.script ?? 'page.ts');
  const browser = await launch({ modules: { sdk: bundle.url }, args: options.args ?? [] });
  const problems: string[] = [];
  const parts = { api, browser, problems, url };
  return {
    problems,
    newRoom: () => api.call('createRoom', { body: { name: `room-${++roomNumber}` } }),
    page: () => newPage(parts),
    blankPage: () => browser.newPage(),
    caller: (room, identity, callerOptions = {}) => newCaller(parts, room, identity, callerOptions),
    async close() {
      await browser.close();
      await bundle.remove();
    },
  };
}

/** Server, media node and browser, with a network between them that fails on command. */
export async function startSdk({ script, args, ...options }: TestServiceOptions & PagesOptions = {}): Promise<SdkKit> {
  const service = await startService(options);
  const [tcp, project] = await Promise.all([startTcpProxy(service.url), service.newProject()]);
  // Through the proxy, which knows where the server is when another has taken its place.
  const url = tcp.url.replace(/\/$/, '');
  const api = createApi({ baseUrl: url, credential: project.apiKey });
  const [pages, media] = await Promise.all([
    startPages(url, api, { ...(script && { script }), ...(args && { args }) }),
    startMedia(service, url),
  ]);
  const others: TestService[] = [];

  return {
    ...pages,
    service,
    api,
    tcp,
    get node() {
      return media.node;
    },
    udp: media.udp,
    replaceNode: () => media.replace(),
    killMediaProcess() {
      for (const pid of media.node.node.pids()) process.kill(pid, 'SIGKILL');
    },
    async replaceServer() {
      const next = await startService({ ...options, beside: service });
      others.push(next);
      tcp.retarget(next.url);
      await service.service.stop();
    },
    async close() {
      await pages.close();
      await media.stop();
      await tcp.close();
      for (const other of others) await other.stop();
      await service.stop();
    },
  };
}

let roomNumber = 0;

/** The real media node behind a UDP proxy, registered with the service. */
async function startMedia(service: TestService, url: string) {
  const [secret = ''] = service.config.sfuSecrets;
  const [udpPort, internalPort] = await Promise.all([freeUdpPort(), freePort()]);
  const udp = await startUdpProxy(udpPort);
  // The same addresses each time, as a node that is restarted has them.
  const variables = {
    CONTROL_URL: url,
    SFU_REGISTRATION_SECRET: secret,
    SFU_ANNOUNCED_HOST: '127.0.0.1',
    SFU_INTERNAL_PORT: String(internalPort),
    SFU_UDP_PORT: String(udpPort),
    SFU_ANNOUNCED_UDP_PORT: String(udp.port),
  };
  const start = () => startTestNode(variables, true);
  let node = await start();
  return {
    udp,
    get node() {
      return node;
    },
    async replace() {
      await node.stop();
      node = await start();
    },
    async stop() {
      udp.close();
      await node.stop();
    },
  };
}

/** The page's script as a bundler makes it. */
async function buildPage(script: string): Promise<{ url: URL; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sdk-'));
  const bundle = await rolldown({
    input: { page: new URL(script, import.meta.url).pathname },
    platform: 'browser',
    // React's StrictMode mounts twice only in a development build.
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
  });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  for (const file of output) if (file.type === 'chunk') await writeFile(join(folder, file.fileName), file.code);
  return {
    url: pathToFileURL(join(folder, 'page.js')),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

interface Parts {
  api: Api;
  browser: Browser;
  problems: string[];
  url: string;
}

async function newPage({ browser, problems }: Parts): Promise<Page> {
  const page = await browser.newPage();
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.evaluate(async () => {
    const name = 'sdk';
    window.sdk = await import(name);
  });
  return page;
}

async function newCaller(parts: Parts, room: Room, identity: string, options: CallerOptions): Promise<CallPage> {
  const page = await newPage(parts);
  const tokenIds: string[] = [];
  await page.exposeFunction('mintToken', async () => {
    const body = { participantIdentity: identity, permissions: speaker, ...options.mint };
    const { token, tokenId } = await parts.api.call('mintRtcToken', { roomId: room.id, body });
    tokenIds.push(tokenId);
    return token;
  });
  await page.evaluate(
    ([url, more]) => {
      window.caller = new window.sdk.Caller({ url, token: () => window.mintToken(), ...more });
    },
    [parts.url, options.room ?? {}] as const,
  );
  const view = (other: string) => page.evaluate((who) => window.caller.view(who), other);
  return {
    identity,
    page,
    tokenIds,
    join: () => page.evaluate(() => window.caller.join()),
    setCamera: (isOn) => page.evaluate(async (on) => void (await window.caller.room.self.setCamera(on)), isOn),
    setMicrophone: (isOn) => page.evaluate(async (on) => void (await window.caller.room.self.setMicrophone(on)), isOn),
    log: () => page.evaluate(() => window.caller.log),
    tiles: () => page.evaluate(() => window.caller.tiles()),
    state: () => page.evaluate(() => window.caller.room.state.getSnapshot().connection),
    view,
    async watches(other) {
      const { framesDecoded: before } = await view(other);
      await eventually(
        async () =>
          assert.ok((await view(other)).framesDecoded > before + 5, `${identity} decodes nothing of ${other}`),
        { withinMs: 30_000 },
      );
    },
  };
}
