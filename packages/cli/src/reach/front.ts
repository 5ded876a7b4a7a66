import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { TLSSocket } from 'node:tls';
import { clockFinding, timeOf } from '@parley/server-app/doctor/clock';
import { type Finding, fail, ok, warn } from '@parley/server-app/doctor/finding';
import { hostOf, portOf } from './address.ts';

const answerMsMax = 10_000;
const bodyBytesMax = 100_000;
const dayMs = 86_400_000;
/** Certificates are renewed earlier than this by everybody who does it automatically. */
const daysLeftMin = 7;

interface Answer {
  status: number;
  date: string | undefined;
  body: Record<string, unknown>;
  connection: Connection | null;
}

/** What TLS agreed on; null without TLS. */
interface Connection {
  protocol: string;
  /** Why this machine does not trust it; null when it does. */
  distrust: string | null;
  validFrom: number;
  validUntil: number;
  issuer: string;
}

/** Certificate, clock and health, all of the door that browsers come by. */
export async function checkFront(url: URL): Promise<{ findings: Finding[]; isOurs: boolean }> {
  const health = await ask(url, '/healthz').catch((error: NodeJS.ErrnoException) => error);
  if (health instanceof Error) return { findings: [noAnswer(url, health)], isOurs: false };
  const time = timeOf(health.date);
  const findings = [
    checkCertificate(url, health.connection),
    ...(time === null ? [] : [clockFinding(hostOf(url), time - Date.now())]),
  ];
  if (health.status !== 200 || health.body['status'] !== 'OK')
    return { findings: [...findings, notOurs(url, health)], isOurs: false };
  findings.push(checkReady(await ask(url, '/readyz').catch(() => null)));
  return { findings, isOurs: findings[0]?.status !== 'fail' };
}

/** Without judging the certificate, which is looked at by itself: a bad one must not hide the rest. */
export function ask(url: URL, path: string): Promise<Answer> {
  const signal = AbortSignal.timeout(answerMsMax);
  const options = { agent: false, signal, rejectUnauthorized: false } as const;
  const request = url.protocol === 'https:' ? requestSecure : requestPlain;
  const asking = request(new URL(path, url), options);
  return new Promise((resolve, reject) => {
    asking.once('response', (response) => {
      // Read before the body ends, and the connection with it.
      const connection = response.socket instanceof TLSSocket ? connectionOf(response.socket) : null;
      read(response).then((body) => {
        resolve({ status: response.statusCode ?? 0, date: response.headers.date, body, connection });
      }, reject);
    });
    asking.once('error', (error) =>
      reject(signal.aborted ? new Error(`no answer within ${answerMsMax / 1000} s`) : error),
    );
    asking.end();
  });
}

async function read(response: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const chunk of response) {
    text += chunk;
    if (text.length > bodyBytesMax) break;
  }
  try {
    return { ...JSON.parse(text) };
  } catch {
    return {};
  }
}

function connectionOf(socket: TLSSocket): Connection {
  const certificate = socket.getPeerCertificate();
  const issuer = certificate.issuer?.O ?? certificate.issuer?.CN ?? 'nobody';
  return {
    protocol: socket.getProtocol() ?? 'TLS',
    distrust: socket.authorized ? null : String(socket.authorizationError),
    validFrom: Date.parse(certificate.valid_from),
    validUntil: Date.parse(certificate.valid_to),
    issuer: String(issuer),
  };
}

function noAnswer(url: URL, error: NodeJS.ErrnoException): Finding {
  const isPlain = error.code === 'EPROTO' || error.code === 'ERR_SSL_WRONG_VERSION_NUMBER';
  return isPlain
    ? fail(
        'tls',
        `What answers on ${portOf(url)} does not speak TLS (${error.code}).`,
        'Set TLS=acme or TLS_CERT and TLS_KEY, or put a proxy with a certificate in front.',
      )
    : fail(
        'http',
        `The connection to ${hostOf(url)} opens and gets no answer (${error.code ?? error.message}).`,
        'See the log of the service and of the proxy in front of it.',
      );
}

function checkCertificate(url: URL, connection: Connection | null): Finding {
  if (connection === null)
    return warn(
      'tls',
      'The address is not encrypted: browsers give camera and microphone to https and localhost only.',
      'Give the https address, and set TLS on the server.',
    );
  const { protocol, distrust, validUntil, issuer } = connection;
  const days = Math.floor((validUntil - Date.now()) / dayMs);
  if (distrust !== null) return distrusted(url, connection, distrust);
  const message = `The certificate is for ${hostOf(url)}, of ${issuer}, good for ${days} days (${protocol}).`;
  return days >= daysLeftMin
    ? ok('tls', message)
    : warn('tls', message, 'It should have been renewed by now: see certificate in /readyz, or your own tool.');
}

function distrusted(url: URL, { validFrom, validUntil }: Connection, reason: string): Finding {
  const day = (time: number): string => new Date(time).toISOString().slice(0, 10);
  if (reason.includes('CERT_HAS_EXPIRED'))
    return fail(
      'tls',
      `The certificate expired on ${day(validUntil)}.`,
      'Renew it: see certificate in /readyz, or your own tool. If that day is to come, set this machine’s clock.',
    );
  if (reason.includes('CERT_NOT_YET_VALID'))
    return fail('tls', `The certificate begins on ${day(validFrom)}.`, 'Set this machine’s clock.');
  if (reason.includes('ERR_TLS_CERT_ALTNAME_INVALID') || reason.includes('altnames'))
    return fail(
      'tls',
      `The certificate is for another name than ${hostOf(url)}.`,
      'Use the name in it, or get one for this name.',
    );
  return fail(
    'tls',
    `This machine does not trust the certificate (${reason}).`,
    'Serve the whole chain of a public authority. For an authority of your own set NODE_EXTRA_CA_CERTS here and install it where browsers run. If somebody in between opens connections, let this name pass.',
  );
}

const notOurs = (url: URL, { status }: Answer): Finding =>
  fail(
    'http',
    `${url.origin}/healthz answers ${status}, and not as Parley does.`,
    'Let the proxy pass every path to the service, and check that this is its address.',
  );

function checkReady(answer: Answer | null): Finding {
  const media = answer?.body['media'] as { status?: string; message?: string } | undefined;
  if (answer?.status !== 200)
    return fail(
      'http',
      `The service runs and is not ready: ${answer?.body['certificate'] ?? '/readyz says no more'}.`,
      'Its operator finds the reason with parley doctor on the server.',
    );
  if (media?.status === 'DOWN')
    return fail('media', media.message ?? 'No media node takes rooms.', 'Start a media node: see parley doctor there.');
  return ok('http', 'The service answers and is ready.');
}
