import { createPrivateKey } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import type { CertificateAuthority, CertificateOrder } from '../../core/ports.ts';
import {
  type AcmeAnswer,
  AcmeError,
  createSignedRequests,
  problemOf,
  readDirectory,
  thumbprintOf,
} from './signed-requests.ts';
import { certificateRequest, newKey, pemOf } from './x509.ts';

/** An authority may take minutes to validate; one that takes longer is asked again another time. */
const waitMsMax = 5 * 60_000;
const pollMs = 1_000;

type Requests = ReturnType<typeof createSignedRequests>;

/** How a name is proven, in the order of preference: the first needs no port beside our own. */
const allWays = ['tls-alpn-01', 'http-01'] as const;
type Way = (typeof allWays)[number];

/** The authority tried, and did not find the proof. */
class NotProven extends AcmeError {
  readonly by: Way;

  constructor(by: Way, { type, message, retryAfterMs }: AcmeError) {
    super(type, `${message} (${by})`, retryAfterMs);
    this.by = by;
  }
}

/** Certificates by ACME (RFC 8555), each name proven on our own TLS port (RFC 8737), or else on the plain one. */
export function createAcmeAuthority({
  directoryUrl,
  clock,
}: {
  directoryUrl: string;
  clock: Clock;
}): CertificateAuthority {
  /** Reads until `status` is none of `passing`. */
  async function settled(
    requests: Requests,
    url: string,
    passing: readonly string[],
    signal: AbortSignal,
  ): Promise<AcmeAnswer> {
    const giveUpAt = clock.elapsed() + waitMsMax;
    for (;;) {
      const answer = await requests.post(url, null);
      if (!passing.includes(textOf(answer, 'status'))) return answer;
      if (clock.elapsed() >= giveUpAt) throw new AcmeError('timeout', 'the authority took too long');
      await clock.sleep(answer.retryAfterMs || pollMs, signal);
      if (signal.aborted) throw new AcmeError('aborted', 'the server stopped meanwhile');
    }
  }

  async function prove(requests: Requests, url: string, order: CertificateOrder, by: readonly Way[]): Promise<void> {
    const authorization = await requests.post(url, null);
    // An authority may remember a name that was proven not long ago.
    if (authorization.body['status'] === 'valid') return;
    const challenge = challengeOf(authorization, by);
    await order.present(`${challenge.token}.${thumbprintOf(createPrivateKey(order.accountKey))}`);
    await requests.post(challenge.url, {});
    const { body } = await settled(requests, url, ['pending', 'processing'], order.signal);
    if (body['status'] !== 'valid') throw new NotProven(challenge.type, failureOf(body));
  }

  /** Places an order and proves the name; a proof that failed has ended its order. */
  async function place(requests: Requests, newOrder: string, order: CertificateOrder, by: readonly Way[]) {
    const identifiers = [{ type: 'dns', value: order.name }];
    const made = await requests.post(newOrder, { identifiers });
    for (const url of listOf(made, 'authorizations')) await prove(requests, url, order, by);
    return made;
  }

  async function issue(order: CertificateOrder): Promise<{ cert: string; key: string }> {
    const { signal } = order;
    const directory = await readDirectory(directoryUrl, signal);
    const requests = createSignedRequests(createPrivateKey(order.accountKey), textOf(directory, 'newNonce'), signal);
    // Finds the account that this key has, or makes one.
    const account = await requests.post(textOf(directory, 'newAccount'), {
      termsOfServiceAgreed: true,
      ...(order.email === null ? {} : { contact: [`mailto:${order.email}`] }),
    });
    requests.signAs(locationOf(account));
    const newOrder = textOf(directory, 'newOrder');
    const ways = order.answersHttp ? allWays : allWays.slice(0, 1);
    const made = await place(requests, newOrder, order, ways).catch((error: unknown) => {
      if (!(error instanceof NotProven) || error.by === 'http-01' || !order.answersHttp) throw error;
      return place(requests, newOrder, order, ['http-01']);
    });
    const ready = await settled(requests, locationOf(made), ['pending'], signal);
    const key = newKey();
    await requests.post(textOf(ready, 'finalize'), {
      csr: certificateRequest(order.name, key).toString('base64url'),
    });
    const done = await settled(requests, locationOf(made), ['ready', 'processing'], signal);
    if (done.body['status'] !== 'valid') throw failureOf(done.body);
    const { text } = await requests.post(textOf(done, 'certificate'), null);
    return { cert: text, key: pemOf(key) };
  }

  return { issue };
}

interface Challenge {
  type: Way;
  url: string;
  token: string;
}

/** The first of these ways that the authority offers. */
function challengeOf({ body: { challenges } }: AcmeAnswer, by: readonly Way[]): Challenge {
  const offered: readonly Partial<Challenge>[] = Array.isArray(challenges) ? challenges : [];
  for (const type of by) {
    const found = offered.find((one) => one?.type === type);
    if (typeof found?.url === 'string' && typeof found.token === 'string')
      return { type, url: found.url, token: found.token };
  }
  throw new AcmeError('unsupported', `the authority does not validate by ${by.join(' or ')}`);
}

/** Why an order or a validation came to nothing. */
function failureOf(body: AcmeAnswer['body']): AcmeError {
  const { challenges } = body;
  const challenge = (Array.isArray(challenges) ? challenges : []).find((one) => one?.error);
  const { type, detail } = problemOf(challenge?.error ?? body['error']);
  return new AcmeError(type, detail === '' ? 'the authority did not issue a certificate' : detail);
}

function textOf({ body }: AcmeAnswer, field: string): string {
  const value = body[field];
  if (typeof value !== 'string') throw malformed(field);
  return value;
}

function listOf({ body }: AcmeAnswer, field: string): string[] {
  const value = body[field];
  if (!Array.isArray(value) || value.some((one) => typeof one !== 'string')) throw malformed(field);
  return value;
}

function locationOf({ location }: AcmeAnswer): string {
  if (location === null) throw malformed('Location');
  return location;
}

const malformed = (field: string): AcmeError => new AcmeError('malformed', `the authority's answer lacks ${field}`);
