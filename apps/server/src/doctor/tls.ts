import type { Config } from '../config.ts';
import { systemClock } from '../core/clock.ts';
import type { CertificateState } from '../core/front.ts';
import { stateOf } from '../tls/certificates.ts';
import { readPair } from '../tls/file-certificates.ts';
import { lacksTls } from '../tls-settings.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const fix = 'See /readyz of the running service, docs/guides/deploy.md and the log.';

/** Nothing to say when somebody else encrypts. */
export async function checkTls(config: Config, isRunning: boolean): Promise<Finding[]> {
  const { tls, port } = config;
  if (lacksTls(config))
    return [
      warn(
        'tls',
        'PUBLIC_URL is https, this server does not encrypt, and no proxy that does is named.',
        'Set TLS=acme (or TLS_CERT and TLS_KEY), or name the proxy in TRUST_PROXY.',
      ),
    ];
  if (tls.kind === 'off') return [];
  if (isRunning) return [await askRunning(port)];
  if (tls.kind === 'files') return [findingOf(stateOfFiles(tls))];
  const mapped = port === 443 ? '' : ` Map port 443 to ${port}: the authority connects to 443.`;
  return [
    ok('tls', `A certificate for ${tls.name} is served, or ordered from ${tls.directoryUrl}, at the start.${mapped}`),
  ];
}

function stateOfFiles({ certificateFile, keyFile }: { certificateFile: string; keyFile: string }): CertificateState {
  try {
    return stateOf(readPair(certificateFile, keyFile).cert, systemClock.now(), null);
  } catch (error) {
    return { status: 'DOWN', message: (error as Error).message };
  }
}

const findingOf = ({ status, message }: CertificateState): Finding =>
  ({ OK: ok('tls', message), DEGRADED: warn('tls', message, fix), DOWN: fail('tls', message, fix) })[status];

/** From this machine without TLS, so it answers whatever its certificate is. */
async function askRunning(port: number): Promise<Finding> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(5_000) });
  const { certificate } = (await answer.json()) as { certificate?: string };
  if (certificate === undefined) return ok('tls', 'The running service has a valid certificate.');
  return findingOf({ status: answer.ok ? 'DEGRADED' : 'DOWN', message: certificate });
}
