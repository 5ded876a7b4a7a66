import { createHash, createPrivateKey } from 'node:crypto';
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

/** Certificates by ACME (RFC 8555), each name proven on our own TLS port (RFC 8737). */
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

  async function prove(requests: Requests, url: string, order: CertificateOrder): Promise<void> {
    const authorization = await requests.post(url, null);
    // An authority may remember a name that was proven not long ago.
    if (authorization.body['status'] === 'valid') return;
    const challenge = challengeOf(authorization);
    const authorized = `${challenge.token}.${thumbprintOf(createPrivateKey(order.accountKey))}`;
    await order.present(createHash('sha256').update(authorized).digest());
    await requests.post(challenge.url, {});
    const { body } = await settled(requests, url, ['pending', 'processing'], order.signal);
    if (body['status'] !== 'valid') throw failureOf(body);
  }

  async function issue(order: CertificateOrder): Promise<{ cert: string; key: string }> {
    const directory = await readDirectory(directoryUrl);
    const requests = createSignedRequests(createPrivateKey(order.accountKey), textOf(directory, 'newNonce'));
    // Finds the account that this key has, or makes one.
    const account = await requests.post(textOf(directory, 'newAccount'), {
      termsOfServiceAgreed: true,
      ...(order.email === null ? {} : { contact: [`mailto:${order.email}`] }),
    });
    requests.signAs(locationOf(account));
    const identifiers = [{ type: 'dns', value: order.name }];
    const made = await requests.post(textOf(directory, 'newOrder'), { identifiers });
    for (const url of listOf(made, 'authorizations')) await prove(requests, url, order);
    const ready = await settled(requests, locationOf(made), ['pending'], order.signal);
    const key = newKey();
    await requests.post(textOf(ready, 'finalize'), {
      csr: certificateRequest(order.name, key).toString('base64url'),
    });
    const done = await settled(requests, locationOf(made), ['ready', 'processing'], order.signal);
    if (done.body['status'] !== 'valid') throw failureOf(done.body);
    const { text } = await requests.post(textOf(done, 'certificate'), null);
    return { cert: text, key: pemOf(key) };
  }

  return { issue };
}

function challengeOf(authorization: AcmeAnswer): { url: string; token: string } {
  const { challenges } = authorization.body;
  const found = (Array.isArray(challenges) ? challenges : []).find((one) => one?.type === 'tls-alpn-01');
  if (typeof found?.url !== 'string' || typeof found?.token !== 'string')
    throw new AcmeError('unsupported', 'the authority does not validate by tls-alpn-01');
  return found;
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
