import { createPrivateKey, sign } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import type { Keyring } from '../../core/keyring.ts';
import { waitOf } from '../webhooks/index.ts';
import { keptSeconds, type Notification } from './notification.ts';
import type { SettingsRow } from './settings-store.ts';
import { isBusy, type PushAnswer, type Transport } from './transport.ts';

export interface FcmUrls {
  api: string;
  token: string;
}

interface FcmDeps {
  clock: Clock;
  keyring: Keyring;
  urls: FcmUrls;
  timeoutMs: number;
}

interface AccessToken {
  text: string;
  until: number;
}

const scope = 'https://www.googleapis.com/auth/firebase.messaging';
const tokenSeconds = 3_600;
/** Before its end a token is replaced: an attempt may take this long. */
const sparedMs = 60_000;
const keptMax = 1_000;

/** FCM's HTTP v1 interface. Addresses are the operator's, never what a service account names. */
export function createFcm({ clock, keyring, urls, timeoutMs }: FcmDeps): Transport<'FCM'> {
  const tokens = new Map<string, AccessToken>();
  const asked = new Map<string, Promise<AccessToken | PushAnswer>>();

  const post = (url: string, headers: Record<string, string>, body: string): Promise<Response> =>
    fetch(url, { method: 'POST', headers, body, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });

  /** One request for all that need it at once. */
  function tokenOf(row: SettingsRow): Promise<AccessToken | PushAnswer> {
    const key = keyOf(row);
    const known = tokens.get(key);
    if (known && known.until > clock.now()) return Promise.resolve(known);
    const running = asked.get(key) ?? askToken(row, key).finally(() => asked.delete(key));
    asked.set(key, running);
    return running;
  }

  async function askToken(row: SettingsRow, key: string): Promise<AccessToken | PushAnswer> {
    const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: assertionOf(row) };
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await post(urls.token, headers, new URLSearchParams(grant).toString());
    if (!response.ok) return refusalOf(response, `Google answered ${response.status} to the service account.`);
    // Google's: a text and seconds.
    const { access_token: text, expires_in: seconds } = (await response.json()) as Record<string, unknown>;
    if (typeof text !== 'string') return { is: 'REFUSED', why: 'Google gave no access token.' };
    const token = { text, until: clock.now() + (Number(seconds) || tokenSeconds) * 1_000 - sparedMs };
    if (tokens.size >= keptMax) tokens.clear();
    tokens.set(key, token);
    return token;
  }

  /** RFC 7523: the service account vouches for itself. */
  function assertionOf({ fcmEmail, fcmSealed }: SettingsRow): string {
    const now = Math.floor(clock.now() / 1_000);
    const claims = { iss: fcmEmail, scope, aud: urls.token, iat: now, exp: now + tokenSeconds };
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`;
    const key = createPrivateKey(keyring.unseal(fcmSealed ?? ''));
    return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
  }

  async function sendOnce(row: SettingsRow, device: string, notification: Notification): Promise<PushAnswer> {
    const token = await tokenOf(row);
    if ('is' in token) return token;
    const url = `${urls.api}/v1/projects/${encodeURIComponent(row.fcmProject ?? '')}/messages:send`;
    const headers = { authorization: `Bearer ${token.text}`, 'content-type': 'application/json' };
    const response = await post(url, headers, JSON.stringify({ message: messageOf(device, notification) }));
    const answer = await response.text();
    if (response.ok) return { is: 'SENT' };
    if (response.status === 404 && answer.includes('UNREGISTERED')) return { is: 'GONE' };
    // The token was withdrawn before its time: the next attempt asks for another, unless one has taken its place.
    if (response.status === 401 && tokens.get(keyOf(row)) === token) tokens.delete(keyOf(row));
    const isTokenless = response.status === 401;
    const why = `FCM answered ${response.status}.`;
    return isTokenless ? { is: 'BUSY', why, afterMs: null } : refusalOf(response, why);
  }

  return {
    async send({ address, notification, settings }) {
      try {
        return await sendOnce(settings, address.token, notification);
      } catch (error) {
        // What fetch throws: no connection, or none in time.
        if (error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError'))
          return { is: 'BUSY', why: 'FCM could not be reached.', afterMs: null };
        throw error;
      }
    },
    close() {},
  };
}

/** By sealed text: another key is another text. */
const keyOf = ({ fcmSealed, fcmEmail }: SettingsRow): string => `${fcmSealed} ${fcmEmail}`;

const refusalOf = ({ status, headers }: Response, why: string): PushAnswer =>
  isBusy(status) ? { is: 'BUSY', why, afterMs: waitOf(headers.get('retry-after')) } : { is: 'REFUSED', why };

const messageOf = (token: string, { collapseId, title, body, data }: Notification): object => ({
  token,
  notification: { title, ...(body === null ? {} : { body }) },
  data,
  android: {
    collapse_key: collapseId,
    priority: 'HIGH',
    ttl: `${keptSeconds}s`,
    notification: { tag: collapseId },
  },
  apns: { headers: { 'apns-collapse-id': collapseId } },
});
