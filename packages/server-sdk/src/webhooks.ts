import type { Environment, EventRecords } from '@parley/contract/types.gen';
import { hmacSha256, hmacSha256Async, joined } from './hmac.ts';

export type EventType = keyof EventRecords;

/** What a webhook delivers: switch on `type` and `data` follows. Ignore types and fields you do not know. */
export type WebhookEvent = {
  [T in EventType]: {
    id: string;
    type: T;
    projectId: string;
    environment: Environment;
    createdAt: string;
    data: EventRecords[T];
  };
}[EventType];

export type WebhookVerificationCode =
  | 'missing_signature'
  | 'malformed_signature'
  | 'signature_mismatch'
  | 'timestamp_out_of_range'
  | 'malformed_body'
  | 'missing_secret';

const explanations: Readonly<Record<WebhookVerificationCode, string>> = {
  missing_signature: 'The request has no svc-signature header: it does not come from the service.',
  malformed_signature: 'The svc-signature header is not of the form t=<unix seconds>,v1=<hex>.',
  signature_mismatch:
    'No signature matches. Check that the secret is the one of this endpoint and that the body is raw, not parsed and serialized again.',
  timestamp_out_of_range: 'The signature is too old or from the future. Check the clock of this machine.',
  malformed_body: 'The body is signed but is not an event.',
  missing_secret: 'No signing secret was given. It starts with whsec_ and is shown when the endpoint is created.',
};

/** The request must be refused, with status 400. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError';
  readonly code: WebhookVerificationCode;

  constructor(code: WebhookVerificationCode) {
    super(explanations[code]);
    this.code = code;
  }
}

/** Headers of any framework: the platform's own, or a record as Node has it. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How far the signature's time may be off, in seconds. */
  toleranceSeconds?: number;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

const toleranceSecondsDefault = 300;
const utf8 = new TextEncoder();

/**
 * The event, if `raw` was signed with one of the secrets in the last five minutes; throws WebhookVerificationError
 * otherwise. `raw` is the body as it was received: bytes, or their text. Give two secrets while one is being rotated.
 * On a runtime without node:crypto use `verifyWebhookAsync`.
 */
export function verifyWebhook(
  raw: Uint8Array | string,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): WebhookEvent {
  const delivery = readDelivery(raw, headers, secrets);
  const { body, time, accepted } = delivery;
  return checkDelivery(
    delivery,
    accepted.map((secret) => hex(hmacSha256(...signedBy(secret, time, body)))),
    options,
  );
}

/** As `verifyWebhook`, on every runtime: with Web Crypto where there is no node:crypto. */
export async function verifyWebhookAsync(
  raw: Uint8Array | string,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const delivery = readDelivery(raw, headers, secrets);
  const { body, time, accepted } = delivery;
  const expected = accepted.map(async (secret) => hex(await hmacSha256Async(...signedBy(secret, time, body))));
  return checkDelivery(delivery, await Promise.all(expected), options);
}

interface Delivery {
  body: Uint8Array;
  time: string;
  signatures: readonly string[];
  /** The secrets that it may be signed with. */
  accepted: readonly string[];
}

function readDelivery(
  raw: Uint8Array | string,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
): Delivery {
  // An environment variable that is not set comes as undefined, whatever the types say; as a key it would be empty.
  const given: readonly unknown[] = Array.isArray(secrets) ? secrets : [secrets];
  const accepted = given.filter((secret): secret is string => typeof secret === 'string' && secret.trim() !== '');
  if (accepted.length === 0) throw new WebhookVerificationError('missing_secret');
  const header = headerOf(headers, 'svc-signature');
  if (header === null) throw new WebhookVerificationError('missing_signature');
  return { ...readSignature(header), body: typeof raw === 'string' ? utf8.encode(raw) : raw, accepted };
}

function checkDelivery(
  { body, time, signatures }: Delivery,
  expected: readonly string[],
  { toleranceSeconds = toleranceSecondsDefault, now = Date.now }: VerifyOptions,
): WebhookEvent {
  // Every pair is compared: constant time.
  let isSigned = false;
  for (const one of expected) for (const given of signatures) isSigned = equalTexts(given, one) || isSigned;
  if (!isSigned) throw new WebhookVerificationError('signature_mismatch');
  if (Math.abs(now() / 1000 - Number(time)) > toleranceSeconds)
    throw new WebhookVerificationError('timestamp_out_of_range');
  return readEvent(body);
}

/**
 * The headers of a delivery of this event, Standard Webhooks beside our own: for tests of your own receiver, on a
 * runtime that has node:crypto.
 */
export function signWebhook(
  raw: Uint8Array | string,
  secret: string,
  { now = Date.now }: Pick<VerifyOptions, 'now'> = {},
): Record<'svc-signature' | 'svc-event-id' | 'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const time = String(Math.floor(now() / 1000));
  const body = typeof raw === 'string' ? utf8.encode(raw) : raw;
  const id = String(parse(new TextDecoder().decode(body))?.['id'] ?? '');
  const key = Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (character) => character.charCodeAt(0));
  const standard = hmacSha256(key, joined(utf8.encode(`${id}.${time}.`), body));
  return {
    'svc-signature': `t=${time},v1=${hex(hmacSha256(...signedBy(secret, time, body)))}`,
    'svc-event-id': id,
    'webhook-id': id,
    'webhook-timestamp': time,
    'webhook-signature': `v1,${btoa(String.fromCharCode(...standard))}`,
  };
}

/** A secret as the service makes them. */
export function newWebhookSecret(): string {
  return `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`;
}

/** The key and what is signed with it. */
const signedBy = (secret: string, time: string, body: Uint8Array): [key: Uint8Array, message: Uint8Array] => [
  utf8.encode(secret),
  joined(utf8.encode(`${time}.`), body),
];

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

function headerOf(headers: WebhookHeaders, name: string): string | null {
  if (typeof headers.get === 'function') return headers.get(name) ?? null;
  // A header that comes twice was not sent by us; taking either would be a choice of the sender's.
  const matches = Object.entries(headers).filter(([given]) => given.toLowerCase() === name);
  const [value] = matches.map(([, text]) => text);
  if (value === undefined) return null;
  if (matches.length > 1 || typeof value !== 'string') throw new WebhookVerificationError('malformed_signature');
  return value;
}

/** Versions we do not know are passed over, so that new ones can be added beside. */
function readSignature(header: string): { time: string; signatures: string[] } {
  const parts = header.split(',').map((part) => part.trim().split('=', 2));
  const times = parts.flatMap(([name, value]) => (name === 't' && value ? [value] : []));
  const signatures = parts.flatMap(([name, value]) => (name === 'v1' && value ? [value.toLowerCase()] : []));
  const [time] = times;
  const isWellFormed =
    time !== undefined &&
    times.length === 1 &&
    /^\d{1,12}$/.test(time) &&
    signatures.length > 0 &&
    signatures.length <= 10 &&
    signatures.every((signature) => /^[0-9a-f]{64}$/.test(signature));
  if (!isWellFormed) throw new WebhookVerificationError('malformed_signature');
  return { time, signatures };
}

/** As long for the first wrong character as for the last; both are 64 characters. */
function equalTexts(left: string, right: string): boolean {
  let difference = left.length ^ right.length;
  for (let at = 0; at < right.length; at++) difference |= left.charCodeAt(at) ^ right.charCodeAt(at);
  return difference === 0;
}

function readEvent(body: Uint8Array): WebhookEvent {
  const event = parse(new TextDecoder().decode(body));
  const isEvent =
    typeof event === 'object' &&
    event !== null &&
    ['id', 'type', 'projectId', 'environment', 'createdAt'].every((name) => typeof event[name] === 'string') &&
    typeof event['data'] === 'object' &&
    event['data'] !== null;
  if (!isEvent) throw new WebhookVerificationError('malformed_body');
  // Signed by the service, which checks what it sends against the same table.
  return event as unknown as WebhookEvent;
}

function parse(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
