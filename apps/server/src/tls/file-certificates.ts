import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { StartRefused } from '../core/start-refused.ts';
import { assertPair, type CertificateSource, createServed, type KeyPair, stateOf } from './certificates.ts';

interface FileCertificatesDeps {
  certificateFile: string;
  keyFile: string;
  clock: Clock;
  log: Log;
}

/** Not watched but read: a file that is replaced, or a mounted folder, tells a watcher nothing. */
const readEveryMs = 10_000;

/** The certificate in TLS_CERT. When the files change, connections from then on get the new one. */
export function createFileCertificates({
  certificateFile,
  keyFile,
  clock,
  log,
}: FileCertificatesDeps): CertificateSource {
  const served = createServed();
  let problem: string | null = null;
  const first = readPair(certificateFile, keyFile);
  served.serve(first);

  async function reload(): Promise<void> {
    try {
      const [cert, key] = await Promise.all([readFile(certificateFile, 'utf8'), readFile(keyFile, 'utf8')]);
      assertPair({ cert, key });
      served.serve({ cert, key });
      problem = null;
    } catch (error) {
      // Between the writing of one file and of the other they do not match: only what lasts is worth a line.
      if (problem === null)
        log.error({ error }, 'TLS_CERT and TLS_KEY cannot be used; the certificate before is served');
      problem = `TLS_CERT and TLS_KEY cannot be used (${(error as Error).message}); what was read before is served.`;
    }
  }

  return {
    onChange: served.onChange,
    validationOf: async () => null,
    keyAuthorizationOf: async () => null,
    whenListening: () => {},
    state: () => stateOf((served.current() ?? first).cert, clock.now(), problem),
    chores: [{ name: 'certificate-files', everyMs: readEveryMs, run: reload, onEveryProcess: true }],
  };
}

/** Both files, which must belong together. */
export function readPair(certificateFile: string, keyFile: string): KeyPair {
  try {
    const pair = { cert: readFileSync(certificateFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
    assertPair(pair);
    return pair;
  } catch (error) {
    throw new StartRefused(`TLS_CERT and TLS_KEY cannot be used (${(error as Error).message}).`);
  }
}
