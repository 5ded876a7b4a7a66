import type { Limits } from '@parley/contract';
import type { Clock } from '../core/clock.ts';
import type { Db } from '../core/db.ts';
import type { CertificateState, Front, TlsSettings } from '../core/front.ts';
import type { Keyring } from '../core/keyring.ts';
import type { Log } from '../core/log.ts';
import type { Metrics } from '../core/metrics.ts';
import type { Part } from '../core/part.ts';
import type { CertificateAuthority, CertificateMaker } from '../core/ports.ts';
import { createAcmeCertificates } from './acme-certificates.ts';
import type { CertificateSource } from './certificates.ts';
import { createFileCertificates } from './file-certificates.ts';
import { createFront } from './front.ts';
import { createPlainPort, type PlainEdge } from './plain-port.ts';
import type { OpenTurnPipe } from './turn-pipe.ts';

export type { OpenTurnPipe } from './turn-pipe.ts';

interface TlsDeps {
  tls: TlsSettings;
  /** Where plain http is answered beside TLS; null for nowhere. */
  plainPort: number | null;
  host: string;
  publicUrl: string;
  /** Of the service, which is made after this. */
  edge: () => PlainEdge;
  openTurnPipe: OpenTurnPipe;
  authorityAt: (directoryUrl: string) => CertificateAuthority;
  maker: CertificateMaker;
  db: Db;
  keyring: Keyring;
  limits: Limits;
  metrics: Metrics;
  clock: Clock;
  log: Log;
}

interface Tls extends Part {
  /** Null when somebody else encrypts. */
  front: Front | null;
  /** Null when somebody else encrypts. */
  certificateState(): CertificateState | null;
}

/** TLS of our own: a certificate, and one port for all that comes encrypted. */
export function createTls(deps: TlsDeps): Tls {
  const certificates = createCertificates(deps, () => plain.isOpen());
  if (certificates === null) return { front: null, certificateState: () => null };
  const plain = createPlainPort({ ...deps, keyAuthorizationOf: certificates.keyAuthorizationOf });
  return {
    ...certificates,
    front: createFront({ ...deps, certificates }),
    certificateState: certificates.state,
    start: plain.start,
    async stop() {
      await certificates.stop?.();
      await plain.stop();
    },
  };
}

function createCertificates({ tls, ...deps }: TlsDeps, answersHttp: () => boolean): CertificateSource | null {
  switch (tls.kind) {
    case 'off':
      return null;
    case 'files':
      return createFileCertificates({ ...tls, ...deps });
    case 'acme':
      return createAcmeCertificates({ ...tls, ...deps, answersHttp, authority: deps.authorityAt(tls.directoryUrl) });
  }
}
