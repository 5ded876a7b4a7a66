import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type PushMessage, type PushWorkerScope, servePush } from '../push-worker/index.ts';
import { disablePush, enablePush, type PushPlatform } from './index.ts';

const publicKey = Buffer.from([4, ...Array(64).fill(251)]).toString('base64url');

/** A browser that keeps one subscription, and a service that says what it was asked. */
function openBrowser(permission: NotificationPermission = 'granted') {
  const asked: [string, string, unknown][] = [];
  const registered: unknown[] = [];
  let current: { key: Uint8Array } | null = null;
  let made = 0;
  const subscription = (key: Uint8Array) => ({
    options: { applicationServerKey: new Uint8Array(key).buffer },
    toJSON: () => ({ endpoint: `https://push.example/${made}`, keys: { p256dh: 'p', auth: 'a' } }),
    unsubscribe: async () => {
      current = null;
      return true;
    },
  });
  const pushManager = {
    getSubscription: async () => (current ? subscription(current.key) : null),
    async subscribe({ applicationServerKey }: { applicationServerKey: Uint8Array }) {
      if (!current) made++;
      current = { key: applicationServerKey };
      return subscription(applicationServerKey);
    },
  };
  // As in a browser: without a worker it is never resolved.
  const ready = Promise.withResolvers<unknown>();
  const platform = {
    serviceWorker: {
      register: async (...args: unknown[]) => {
        registered.push(args);
        ready.resolve({ pushManager });
      },
      ready: ready.promise,
      getRegistration: async () => (registered.length > 0 ? { pushManager } : undefined),
    },
    requestPermission: async () => permission,
  } as unknown as PushPlatform;
  const runtime = {
    newId: () => 'an-id',
    async fetch(url: unknown, { method = 'GET', body }: RequestInit = {}) {
      const { pathname } = new URL(String(url));
      asked.push([method, pathname, body ? JSON.parse(String(body)) : undefined]);
      if (method === 'DELETE') return new Response(null, { status: 204 });
      return Response.json(method === 'GET' ? { publicKey } : { id: 'dev_1' });
    },
  };
  return {
    asked,
    registered,
    platform,
    runtime,
    subscribeElsewhere: () => {
      current = { key: new Uint8Array(65) };
    },
    isSubscribed: () => current !== null,
  };
}

const options = { url: 'https://rtc.example.com/', token: 'a-token' };

test('[PUSH-13] enablePush asks the user, subscribes with the environment`s key and registers the browser; again it renews', async () => {
  const { platform, runtime, asked, registered } = openBrowser();
  assert.deepEqual(await enablePush(options, platform, runtime), { state: 'enabled', deviceId: 'dev_1' });
  assert.deepEqual(registered, [['/push-worker.js', { type: 'module' }]]);
  const body = { kind: 'WEB_PUSH', endpoint: 'https://push.example/1', keys: { p256dh: 'p', auth: 'a' } };
  const steps = [
    ['GET', '/v1/chat/push/key', undefined],
    ['PUT', '/v1/chat/devices', body],
  ];
  assert.deepEqual(asked, steps);
  await enablePush(options, platform, runtime);
  assert.deepEqual(asked, [...steps, ...steps], 'the subscription that is there is kept');
});

test('[PUSH-13] a subscription for other keys is replaced, and disablePush ends it here and there', async () => {
  const browser = openBrowser();
  browser.subscribeElsewhere();
  await enablePush(options, browser.platform, browser.runtime);
  assert.equal((browser.asked[1]?.[2] as { endpoint?: string } | undefined)?.endpoint, 'https://push.example/1');
  await disablePush(options, browser.platform, browser.runtime);
  assert.deepEqual(browser.asked.at(-1)?.slice(0, 2), ['DELETE', '/v1/chat/devices/dev_1']);
  assert.equal(browser.isSubscribed(), false);
  await disablePush(options, browser.platform, browser.runtime);
});

test('[PUSH-13] a no of the user and a browser without push are answers, not errors', async () => {
  const { platform, runtime, asked, registered } = openBrowser('denied');
  assert.deepEqual(await enablePush(options, platform, runtime), { state: 'denied' });
  assert.deepEqual(await enablePush(options, null, runtime), { state: 'unsupported' });
  assert.deepEqual([asked, registered], [[], []]);
});

test('[PUSH-13] who never had it enabled signs out at once', async () => {
  const { platform, runtime, asked } = openBrowser();
  const isOver = disablePush(options, platform, runtime).then(() => true);
  assert.equal(await Promise.race([isOver, setImmediate(false)]), true, 'it waits for a worker that nobody registers');
  assert.deepEqual(asked, []);
});

const message: PushMessage = { title: 'New message', conversationId: 'conv_1', messageId: 'msg_1', mention: 'false' };

/** A service worker with these pages open. */
function openWorker(pages: { focused: boolean }[] = []) {
  const listeners = new Map<string, (event: never) => void>();
  const done: unknown[][] = [];
  const windows = pages.map(({ focused }, at) => ({
    focused,
    postMessage: (told: unknown) => void done.push(['told', at, told]),
    focus: async () => void done.push(['focus', at]),
    navigate: async (url: string) => void done.push(['navigate', at, url]),
  }));
  const scope = {
    registration: {
      scope: 'https://app.example/',
      showNotification: async (...shown: unknown[]) => void done.push(['shown', ...shown]),
    },
    clients: { matchAll: async () => windows, openWindow: async (url: string) => void done.push(['opened', url]) },
    addEventListener: (type: string, listener: (event: never) => void) => void listeners.set(type, listener),
  } as unknown as PushWorkerScope;
  async function fire(type: string, event: object): Promise<void> {
    let work: Promise<unknown> = Promise.resolve();
    const waitUntil = (some: Promise<unknown>) => {
      work = some;
    };
    listeners.get(type)?.({ ...event, waitUntil } as never);
    await work;
  }
  return {
    scope,
    done,
    push: (data: unknown) => fire('push', { data: { json: () => data } }),
    click: (data: unknown) => fire('notificationclick', { notification: { data, close: () => done.push(['closed']) } }),
  };
}

test('[PUSH-14] the worker shows one notification a conversation, and nothing but tells a page that has the focus', async () => {
  const away = openWorker([{ focused: false }]);
  servePush({ icon: '/icon.png' }, away.scope);
  await away.push({ ...message, body: 'hello' });
  const shown = {
    body: 'hello',
    tag: 'conv_1',
    renotify: true,
    icon: '/icon.png',
    data: { ...message, body: 'hello' },
  };
  assert.deepEqual(away.done, [['shown', 'New message', shown]]);
  await away.push({ of: 'somebody else' });
  await away.push(null);
  assert.equal(away.done.length, 1);

  const seen = openWorker([{ focused: false }, { focused: true }]);
  servePush({}, seen.scope);
  await seen.push(message);
  assert.deepEqual(seen.done, [['told', 1, { type: 'parley.push', message }]]);

  const own = openWorker();
  servePush({ show: ({ mention }) => (mention === 'true' ? { title: 'You!' } : null) }, own.scope);
  await own.push(message);
  await own.push({ ...message, mention: 'true' });
  assert.deepEqual(
    own.done.map(([what, title]) => [what, title]),
    [['shown', 'You!']],
  );
});

test('[PUSH-14] a click opens the page of the conversation, in a window that is there or in a new one', async () => {
  const pageOf = ({ conversationId }: PushMessage) => `/chat/${conversationId}`;
  const open = openWorker([{ focused: false }]);
  servePush({ pageOf }, open.scope);
  await open.click(message);
  assert.deepEqual(open.done, [['closed'], ['focus', 0], ['navigate', 0, '/chat/conv_1']]);
  const none = openWorker();
  servePush({}, none.scope);
  await none.click(message);
  assert.deepEqual(none.done, [['closed'], ['opened', 'https://app.example/']]);
});
