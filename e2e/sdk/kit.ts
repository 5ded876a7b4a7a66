import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CameraOptions, MicrophoneOptions } from '@parley/client';
import type { MintRtcToken, Room } from '@parley/contract';
import { type Api, createApi } from '@parley/server';
import type { Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { oncePerWorker } from '../../apps/server/testkit/kit/worker-life.ts';
import { openSite, type Site, type SiteOptions } from '../browser.ts';
import type { Caller, RemoteView } from './page.ts';
import { type SdkStage, sharedStage } from './stage.ts';

type Sdk = typeof import('./page.ts');

declare global {
  interface Window {
    sdk: Sdk;
    caller: Caller;
    mintToken(): Promise<string>;
  }
}

/** A picture that costs little: one layer. */
const smallPicture: CameraOptions = { width: 320, height: 180 };
/** Sound as it comes: the browser's filters cost more than a picture. */
export const plainSound: MicrophoneOptions = {
  echoCancellation: false,
  noiseSuppression: false,
  autoGainControl: false,
};

export const speaker = { publish: true, publishData: true } as const;

/** One page in a room through the SDK. */
export interface CallPage {
  identity: string;
  page: Page;
  /** Token ids minted for it, newest last. */
  tokenIds: string[];
  join(): Promise<void>;
  /** Small, unless a test judges sizes: `{}` is what an application gets. */
  setCamera(isOn: boolean, options?: CameraOptions): Promise<void>;
  setMicrophone(isOn: boolean, options?: MicrophoneOptions): Promise<void>;
  log(): Promise<string[]>;
  tiles(): Promise<string[]>;
  state(): Promise<string>;
  view(identity: string): Promise<RemoteView>;
  /** Waits until more video of a participant is decoded than now. */
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

interface PagesOptions {
  args?: string[];
  /** What the pages import as `sdk`. */
  script?: string;
  /** The browser and where its pages come from, instead of the one that tests share. */
  openSite?: (options: SiteOptions) => Promise<Site>;
}

/** Pages on the stage that the SDK tests of this worker share, with a project of their own. */
export interface SdkKit extends Pages, Omit<SdkStage, 'newProject' | 'heal' | 'stop'> {
  /** Of the project's backend. */
  api: Api;
}

export interface CallerOptions {
  mint?: Partial<MintRtcToken>;
  room?: object;
}

/** Pages for a service that runs already. `api` is that of a project's backend. */
export async function openPages(url: string, api: Api, options: PagesOptions = {}): Promise<Pages> {
  const bundle = await builtPage(options.script ?? 'page.ts');
  const site = await (options.openSite ?? openSite)({ modules: { sdk: bundle }, args: options.args ?? [] });
  const problems: string[] = [];
  const parts = { api, site, problems, url };
  return {
    problems,
    newRoom: () => api.call('createRoom', { body: { name: `room-${++roomNumber}` } }),
    page: () => newPage(parts),
    blankPage: () => site.newPage(),
    caller: (room, identity, callerOptions = {}) => newCaller(parts, room, identity, callerOptions),
    close: () => site.close(),
  };
}

let roomNumber = 0;

export async function openSdk(options: PagesOptions = {}): Promise<SdkKit> {
  const stage = await sharedStage();
  const { apiKey } = await stage.newProject();
  const api = createApi({ baseUrl: stage.url, credential: apiKey });
  const pages = await openPages(stage.url, api, options);
  return {
    ...stage,
    ...pages,
    api,
    async close() {
      await pages.close();
      stage.heal();
    },
  };
}

interface BuiltPage {
  url: URL;
  stop(): Promise<void>;
}

const builtPages = new Map<string, () => Promise<BuiltPage>>();

/** The page's script as a bundler makes it, once for this worker. */
async function builtPage(script: string): Promise<URL> {
  const shared = builtPages.get(script) ?? oncePerWorker(() => buildPage(script));
  builtPages.set(script, shared);
  return (await shared()).url;
}

async function buildPage(script: string): Promise<BuiltPage> {
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
  return { url: pathToFileURL(join(folder, 'page.js')), stop: () => rm(folder, { recursive: true, force: true }) };
}

interface Parts {
  api: Api;
  site: Site;
  problems: string[];
  url: string;
}

async function newPage({ site, problems }: Parts): Promise<Page> {
  const page = await site.newPage();
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
    setCamera: (isOn, camera = smallPicture) =>
      page.evaluate(async ([on, wanted]) => void (await window.caller.room.self.setCamera(on, wanted)), [
        isOn,
        camera,
      ] as const),
    setMicrophone: (isOn, microphone = {}) =>
      page.evaluate(async ([on, wanted]) => void (await window.caller.room.self.setMicrophone(on, wanted)), [
        isOn,
        microphone,
      ] as const),
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
