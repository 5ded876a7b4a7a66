import type { Server } from 'node:http';

/** What stands between the port and the HTTP server: TLS of our own, and TURN beside HTTP. */
export interface Front {
  /** Takes over the connections of a server that has none yet. */
  guard(server: Server): void;
  /** Closes connections that have asked for nothing yet, and those to TURN, which another server takes. */
  closeIdle(): void;
}

/** How it is with the certificate of the port, in a sentence for the operator. */
export interface CertificateState {
  status: 'OK' | 'DEGRADED' | 'DOWN';
  message: string;
}

/** Who encrypts what comes to PORT, and with which certificate. */
export type TlsSettings =
  /** A proxy in front of us, or nobody. */
  | { kind: 'off' }
  | { kind: 'files'; certificateFile: string; keyFile: string }
  | { kind: 'acme'; name: string; directoryUrl: string; email: string | null; areTermsAgreed: boolean };
