/** A browser inside a network, and what is measured in it. */
import { createHash, X509Certificate } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Room } from '@parley/contract';
import type { Api } from '@parley/server';
import {
  findChromium,
  type Running,
  type Site,
  type SiteOptions,
  siteFile,
  startChromium,
} from '../../../e2e/browser.ts';
import { type CallPage, openPages } from '../../../e2e/sdk/kit.ts';
import { startFirefox } from './firefox.ts';
import { PUBLIC_URL } from './installation.ts';
import { writeLauncher } from './namespaces.ts';

type Conversation = import('@parley/client/chat').Conversation;

declare global {
  interface Window {
    /** When each peer connection was connected for the first time: ms. */
    connectedAt: number[];
    conversation: Conversation;
    heard: string[];
    mintChatToken(): Promise<string>;
  }
}

export interface Participant extends CallPage {
  /** Until both transports were connected, and until the first picture: ms from the call of connect(). */
  connectedMs(): Promise<number | null>;
  firstPictureMs(): Promise<number | null>;
  /** By what its media goes, each way. */
  paths(): Promise<string[]>;
  openChat(conversationId: string): Promise<void>;
  say(text: string): Promise<void>;
  heard(): Promise<string[]>;
}

export interface Client {
  participant(room: Room, identity: string): Promise<Participant>;
  close(): Promise<void>;
}

const PAGE = `${PUBLIC_URL}/healthz`;

/**
 * Pages of the service's own origin with the SDK in them, which is not asked for: it is not what is measured. The page
 * itself must come from the service, or Chromium takes the service for a machine of a local network that it guards.
 * Driven by BiDi, Firefox takes no import map into a page of the service, and does not mind a page from here.
 */
const siteOf =
  (browser: import('playwright-core').Browser) =>
  async ({ modules = {} }: SiteOptions): Promise<Site> => {
    const isFirefox = browser.browserType().name() === 'firefox';
    const context = await browser.newContext({ bypassCSP: true });
    await context.route(`${PUBLIC_URL}/0/**`, async (route) => {
      const file = await siteFile(modules, new URL(route.request().url()).pathname);
      await (file ? route.fulfill(file) : route.abort());
    });
    const document = await siteFile(modules, '/');
    if (isFirefox) await context.route(PAGE, (route) => route.fulfill(document));
    return {
      async newPage() {
        const page = await context.newPage();
        await page.goto(PAGE);
        if (!isFirefox) await page.setContent(document?.body ?? '');
        return page;
      },
      close: () => context.close(),
    };
  };

/** What a client believes: the server's certificate, and the file of who signed it. */
export interface Trust {
  certificate: string;
  authorityFile: string;
}

/** Chromium trusts no other than this certificate besides the ones it knows. */
const trusting = (certificate: string): string => {
  const key = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' });
  return `--ignore-certificate-errors-spki-list=${createHash('sha256').update(key).digest('base64')}`;
};

export type BrowserName = 'chromium' | 'firefox';

const STARTS: Record<BrowserName, (namespace: string, folder: string, trust: Trust) => Promise<Running>> = {
  chromium: async (namespace, folder, { certificate }) =>
    await startChromium([trusting(certificate)], await writeLauncher(folder, namespace, findChromium() ?? '')),
  firefox: (namespace, folder, { authorityFile }) => startFirefox(namespace, folder, authorityFile),
};

export interface ClientOptions {
  namespace: string;
  browser?: BrowserName;
  api: Api;
  trust: Trust;
}

export async function openClient({ namespace, browser = 'chromium', api, trust }: ClientOptions): Promise<Client> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-client-'));
  const running = await STARTS[browser](namespace, folder, trust);
  const pages = await openPages(PUBLIC_URL, api, { openSite: siteOf(running.browser) });
  return {
    async participant(room, identity) {
      const caller = await pages.caller(room, identity);
      await watchConnections(caller);
      await caller.page.exposeFunction('mintChatToken', async () => {
        const { token } = await api.call('mintChatToken', { body: { userId: identity } });
        return token;
      });
      return { ...caller, ...measured(caller), ...talking(caller) };
    },
    async close() {
      await running.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const watchConnections = ({ page }: CallPage): Promise<void> =>
  page.evaluate(() => {
    window.connectedAt = [];
    const Native = globalThis.RTCPeerConnection;
    globalThis.RTCPeerConnection = class extends Native {
      constructor(configuration?: RTCConfiguration) {
        super(configuration);
        let isFirst = true;
        this.addEventListener('connectionstatechange', () => {
          if (this.connectionState !== 'connected' || !isFirst) return;
          isFirst = false;
          window.connectedAt.push(performance.now());
        });
      }
    };
  });

const measured = ({ page }: CallPage) => ({
  connectedMs: () =>
    page.evaluate(() => {
      const [, both] = window.connectedAt;
      return both === undefined ? null : Math.round(both - (window.caller.times['join'] ?? 0));
    }),
  firstPictureMs: () =>
    page.evaluate(() => {
      const { join = 0, firstFrame } = window.caller.times;
      return firstFrame === undefined ? null : Math.round(firstFrame - join);
    }),
  paths: () =>
    page.evaluate(async () => {
      const { pub, sub } = await window.caller.room.getStats();
      return [pub, sub].map((report) => {
        // biome-ignore lint/suspicious/noExplicitAny: the browser's reports are not typed.
        const all = [...(report?.values() ?? [])] as any[];
        const byId = (id: string) => all.find((one) => one.id === id);
        const pair = byId(all.find(({ type }) => type === 'transport')?.selectedCandidatePairId);
        const local = byId(pair?.localCandidateId);
        if (!local) return 'none';
        const family = String(byId(pair.remoteCandidateId)?.address).includes(':') ? ' IPv6' : '';
        return `${local.relayProtocol ? `relay ${local.relayProtocol}` : `${local.candidateType} ${local.protocol}`}${family}`;
      });
    }),
});

const talking = ({ page }: CallPage) => ({
  openChat: (conversationId: string) =>
    page.evaluate(
      async ([url, id]) => {
        const chat = new window.sdk.chat.Chat({ url, token: () => window.mintChatToken() });
        await chat.connect();
        window.heard = [];
        window.conversation = await chat.join(id);
        window.conversation.on('message', ({ text }) => window.heard.push(text ?? ''));
      },
      [PUBLIC_URL, conversationId] as const,
    ),
  say: (text: string) => page.evaluate(async (words) => void (await window.conversation.send(words)), text),
  heard: () => page.evaluate(() => window.heard),
});
