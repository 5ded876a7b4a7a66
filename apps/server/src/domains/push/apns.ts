import { createPrivateKey, sign } from 'node:crypto';
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import type { ApnsEnvironment } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import type { Keyring } from '../../core/keyring.ts';
import { waitOf } from '../webhooks/index.ts';
import { keptSeconds, type Notification } from './notification.ts';
import type { SettingsRow } from './settings-store.ts';
import { isBusy, type PushAnswer, type Transport } from './transport.ts';

/** Where each of Apple's services is. */
export type ApnsUrls = Readonly<Record<ApnsEnvironment, string>>;

interface ApnsDeps {
  clock: Clock;
  keyring: Keyring;
  urls: ApnsUrls;
  timeoutMs: number;
}

interface ApnsReply {
  status: number;
  reason: string;
  retryAfter: string | undefined;
}

/** Apple refuses a token older than an hour, and one made more often than every 20 minutes. */
const tokenMs = 40 * 60_000;
const keptMax = 1_000;
const replyMax = 4_096;
/** Reasons that a device is no more, beside 410. */
const goneReasons = new Set(['BadDeviceToken', 'Unregistered', 'DeviceTokenNotForTopic', 'ExpiredToken']);

/** APNs: one HTTP/2 session for each of Apple's services, opened with the first notification and after a loss. */
export function createApns({ clock, keyring, urls, timeoutMs }: ApnsDeps): Transport<'APNS'> {
  const sessions = new Map<ApnsEnvironment, ClientHttp2Session>();
  // By sealed text: another key is another text.
  const tokens = new Map<string, { text: string; until: number }>();

  function sessionOf(environment: ApnsEnvironment): ClientHttp2Session {
    const known = sessions.get(environment);
    if (known && !known.closed && !known.destroyed) return known;
    const session = connect(urls[environment]);
    const forget = (): void => {
      if (sessions.get(environment) === session) sessions.delete(environment);
    };
    // What was in flight hears of it by its own stream.
    session.on('error', forget);
    session.on('goaway', forget);
    session.on('close', forget);
    // It must not keep a process that has nothing else to do.
    session.unref();
    sessions.set(environment, session);
    return session;
  }

  function tokenOf({ apnsTeam, apnsKeyId, apnsSealed }: SettingsRow): string {
    const key = `${apnsSealed} ${apnsTeam} ${apnsKeyId}`;
    const known = tokens.get(key);
    if (known && known.until > clock.now()) return known.text;
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = { iss: apnsTeam, iat: Math.floor(clock.now() / 1_000) };
    const head = `${part({ alg: 'ES256', kid: apnsKeyId })}.${part(claims)}`;
    const privateKey = createPrivateKey(keyring.unseal(apnsSealed ?? ''));
    const signature = sign('sha256', Buffer.from(head), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    const text = `${head}.${signature.toString('base64url')}`;
    if (tokens.size >= keptMax) tokens.clear();
    tokens.set(key, { text, until: clock.now() + tokenMs });
    return text;
  }

  return {
    async send({ address, notification, settings }) {
      const headers = {
        [constants.HTTP2_HEADER_METHOD]: 'POST',
        [constants.HTTP2_HEADER_PATH]: `/3/device/${address.token}`,
        authorization: `bearer ${tokenOf(settings)}`,
        'apns-topic': address.topic,
        'apns-push-type': 'alert',
        'apns-priority': '10',
        'apns-collapse-id': notification.collapseId,
        'apns-expiration': String(Math.floor(clock.now() / 1_000) + keptSeconds),
      };
      try {
        const session = sessionOf(address.environment);
        return answerOf(await exchange(session, headers, JSON.stringify(payloadOf(notification)), timeoutMs));
      } catch {
        return { is: 'BUSY', why: 'APNs could not be reached.', afterMs: null };
      }
    },
    close() {
      for (const session of sessions.values()) session.destroy();
    },
  };
}

function exchange(
  session: ClientHttp2Session,
  headers: Record<string, string>,
  body: string,
  timeoutMs: number,
): Promise<ApnsReply> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers, { signal: AbortSignal.timeout(timeoutMs) });
    const reply: ApnsReply = { status: 0, reason: '', retryAfter: undefined };
    let text = '';
    stream.on('response', (received) => {
      reply.status = Number(received[':status'] ?? 0);
      reply.retryAfter = received['retry-after'];
    });
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      if (text.length < replyMax) text += chunk;
    });
    stream.on('end', () => resolve({ ...reply, reason: reasonIn(text) }));
    stream.on('error', reject);
    stream.on('close', () => reject(new Error('The connection ended without an answer.')));
    stream.end(body);
  });
}

function reasonIn(text: string): string {
  try {
    return String((JSON.parse(text) as { reason?: unknown }).reason ?? '');
  } catch {
    return '';
  }
}

function answerOf({ status, reason, retryAfter }: ApnsReply): PushAnswer {
  if (status === 200) return { is: 'SENT' };
  if (status === 410 || (status === 400 && goneReasons.has(reason))) return { is: 'GONE' };
  const why = `APNs answered ${status} ${/^[A-Za-z]{0,64}$/.test(reason) ? reason : ''}`.trim();
  const waits = isBusy(status) || status === 0 || reason === 'ExpiredProviderToken';
  return waits ? { is: 'BUSY', why, afterMs: waitOf(retryAfter) } : { is: 'REFUSED', why };
}

const payloadOf = ({ collapseId, title, body, data }: Notification): object => ({
  aps: {
    alert: { title, ...(body === null ? {} : { body }) },
    sound: 'default',
    'thread-id': collapseId,
    // So that an extension of the application may fetch what this does not say.
    'mutable-content': 1,
  },
  ...data,
});
