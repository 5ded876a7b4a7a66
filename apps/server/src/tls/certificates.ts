import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import type { CertificateState } from '../core/front.ts';
import type { Part } from '../core/part.ts';

/** A certificate with its chain, and its key; both PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** Where the certificate of the port comes from. */
export interface Certificates {
  /** Called with the certificate to serve, at once if there is one and whenever another takes its place. */
  onChange(listener: (pair: KeyPair) => void): void;
  /** What proves a name to the authority that is just validating it; null when none is. */
  validationOf(name: string): Promise<SecureContext | null>;
  /** What an authority that asks for this token on port 80 has to find; null when none is validating. */
  keyAuthorizationOf(token: string): Promise<string | null>;
  /** The port is open. */
  whenListening(): void;
}

export interface CertificateSource extends Certificates, Part {
  state(): CertificateState;
}

/** The certificate that is served, and who wants to know of another. */
export function createServed() {
  let served: KeyPair | null = null;
  const listeners: ((pair: KeyPair) => void)[] = [];
  return {
    current: (): KeyPair | null => served,
    serve(pair: KeyPair): void {
      if (served?.cert === pair.cert && served.key === pair.key) return;
      served = pair;
      for (const listener of listeners) listener(pair);
    },
    onChange(listener: (pair: KeyPair) => void): void {
      listeners.push(listener);
      if (served) listener(served);
    },
  };
}

interface Validity {
  from: number;
  until: number;
}

/** Throws when the text is no certificate. */
export function validityOf(cert: string): Validity {
  const { validFrom, validTo } = new X509Certificate(cert);
  return { from: Date.parse(validFrom), until: Date.parse(validTo) };
}

/** Throws when the key is not the certificate's. */
export function assertPair({ cert, key }: KeyPair): void {
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new Error('the key is of another certificate');
}

/** A renewal is overdue by then, and somebody should look; certificates may live for days only. */
const lateMsMax = 7 * 86_400_000;
const lateShare = 1 / 4;

const dateOf = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 10);

/** What its dates say, with what else there is to say. */
export function stateOf(cert: string, now: number, problem: string | null): CertificateState {
  const { from, until } = validityOf(cert);
  const rest = problem === null ? '' : ` ${problem}`;
  if (until <= now) return { status: 'DOWN', message: `The certificate expired on ${dateOf(until)}.${rest}` };
  const isLate = until - now < Math.min(lateMsMax, (until - from) * lateShare);
  return {
    status: isLate || problem !== null ? 'DEGRADED' : 'OK',
    message: `The certificate is valid until ${dateOf(until)}.${rest}`,
  };
}
