import type { PushPreferences, SetPushPreferences } from '@parley/contract/types.gen';
import { type Credential, createCredential } from '../credential.ts';
import { baseUrlOf, createHttp, type Http } from '../http.ts';
import { type Runtime, systemRuntime } from '../runtime.ts';

export type { PushPreferences, QuietHours } from '@parley/contract/types.gen';
export type { Credential } from '../credential.ts';

/** The options of `Chat` will do: address of the service, and a chat token or how to get one. */
export interface PushOptions {
  url: string;
  token: Credential;
  /** Address of your service worker, which calls `servePush`. Default `/push-worker.js`. */
  serviceWorker?: string;
  /** How it is written. Default `module`. */
  type?: 'classic' | 'module';
}

/** What became of it. `denied` and `unsupported` are answers, not errors: ask again when the user wants it. */
export type PushState =
  | { state: 'enabled'; deviceId: string }
  /** The user, or the browser for them, said no. */
  | { state: 'denied' }
  /** This browser has no Web Push: iOS has it in pages on the home screen only. */
  | { state: 'unsupported' };

/** What the browser has for it; for tests another. */
export interface PushPlatform {
  serviceWorker: Pick<ServiceWorkerContainer, 'register' | 'ready' | 'getRegistration'>;
  requestPermission(): Promise<NotificationPermission>;
}

const DEFAULT_WORKER = '/push-worker.js';

/** True where `enablePush` can work. */
export const canPush = (): boolean => platformOf() !== null;

function platformOf(): PushPlatform | null {
  const { navigator, Notification, PushManager } = globalThis as Partial<typeof globalThis>;
  if (!navigator?.serviceWorker || !Notification || !PushManager) return null;
  return { serviceWorker: navigator.serviceWorker, requestPermission: () => Notification.requestPermission() };
}

/**
 * Asks the user, subscribes this browser and registers it as a device of the token's user. Call it after a click, and
 * again with each start of a page that has it enabled: browsers renew subscriptions by themselves. The last two
 * arguments are for tests.
 */
export async function enablePush(
  options: PushOptions,
  platform: PushPlatform | null = platformOf(),
  runtime: Pick<Runtime, 'fetch' | 'newId'> = systemRuntime,
): Promise<PushState> {
  if (platform === null) return { state: 'unsupported' };
  const { serviceWorker: address = DEFAULT_WORKER, type = 'module' } = options;
  if ((await platform.requestPermission()) !== 'granted') return { state: 'denied' };
  await platform.serviceWorker.register(address, { type });
  // Only a worker that is active can be subscribed.
  const { pushManager } = await platform.serviceWorker.ready;
  const http = httpOf(options, runtime);
  // The answers of our own routes.
  const { publicKey } = (await http.call('GET', '/v1/chat/push/key')) as { publicKey: string };
  const key = bytesOf(publicKey);
  const known = await pushManager.getSubscription();
  // Of another service, or of one before its keys were lost: it would be refused with every message.
  if (known && !isSame(known.options.applicationServerKey, key)) await known.unsubscribe();
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  return { state: 'enabled', deviceId: await register(http, subscription) };
}

/** Ends the subscription of this browser and removes it from the user's devices: when they sign out, or want no more. */
export async function disablePush(
  options: PushOptions,
  platform: PushPlatform | null = platformOf(),
  runtime: Pick<Runtime, 'fetch' | 'newId'> = systemRuntime,
): Promise<void> {
  // Not `ready`: where it was never enabled there is no worker, and that would be waited for without an end.
  const registration = await platform?.serviceWorker.getRegistration();
  const subscription = await registration?.pushManager.getSubscription();
  if (!subscription) return;
  const http = httpOf(options, runtime);
  // Registering a known device gives its id; nothing else does.
  const deviceId = await register(http, subscription);
  await http.call('DELETE', `/v1/chat/devices/${deviceId}`);
  await subscription.unsubscribe();
}

const PREFERENCES = '/v1/chat/push/preferences';

/** Which messages the user is told of, and when not; null is the default of the environment. */
export const getPushPreferences = async (options: PushOptions): Promise<PushPreferences> =>
  (await httpOf(options, systemRuntime).call('GET', PREFERENCES)) as PushPreferences;

/** Holds for all devices of the user. What is left out stays as it is. */
export const setPushPreferences = async (
  options: PushOptions,
  body: Omit<SetPushPreferences, 'userId'>,
): Promise<PushPreferences> =>
  (await httpOf(options, systemRuntime).call('PATCH', PREFERENCES, { body })) as PushPreferences;

async function register(http: Http, subscription: PushSubscription): Promise<string> {
  const { endpoint, keys } = subscription.toJSON();
  const body = { kind: 'WEB_PUSH', endpoint, keys };
  return ((await http.call('PUT', '/v1/chat/devices', { body })) as { id: string }).id;
}

const httpOf = ({ url, token }: PushOptions, runtime: Pick<Runtime, 'fetch' | 'newId'>): Http =>
  createHttp({ baseUrl: baseUrlOf(url), credential: createCredential(token), runtime });

/** Not every browser takes the key as text. */
function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function isSame(known: ArrayBuffer | null, key: Uint8Array): boolean {
  const bytes = new Uint8Array(known ?? new ArrayBuffer(0));
  return bytes.length === key.length && bytes.every((byte, at) => byte === key[at]);
}
