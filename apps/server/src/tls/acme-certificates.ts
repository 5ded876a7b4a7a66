import { createSecureContext, type SecureContext } from 'node:tls';
import { createCache } from '../core/cache.ts';
import { type Clock, iso } from '../core/clock.ts';
import type { Db } from '../core/db.ts';
import type { CertificateState } from '../core/front.ts';
import type { Keyring } from '../core/keyring.ts';
import type { Log } from '../core/log.ts';
import type { CertificateAuthority, CertificateMaker } from '../core/ports.ts';
import {
  type CertificateRow,
  claimOrder,
  ensureAccountKey,
  ensureCertificate,
  findAccountKey,
  findProof,
  type Proof,
  replaceAccountKey,
  replaceCertificateKey,
  saveCertificate,
  saveFailure,
  saveProof,
} from './certificate-store.ts';
import { type CertificateSource, createServed, stateOf, validityOf } from './certificates.ts';

interface AcmeCertificatesDeps {
  name: string;
  directoryUrl: string;
  email: string | null;
  areTermsAgreed: boolean;
  authority: CertificateAuthority;
  maker: CertificateMaker;
  /** Whether an authority that comes to port 80 would be answered. */
  answersHttp: () => boolean;
  db: Db;
  keyring: Keyring;
  clock: Clock;
  log: Log;
}

/** How soon a server has what another one got. */
const lookEveryMs = 10_000;
/** An order is over by then; if its server died, another makes the next. */
const orderMsMax = 10 * 60_000;
/** Anybody may ask for the proof. Short: so old may be what another server says to an authority. */
const proofTtlMs = 500;
/** Authorities allow few failures an hour. */
const retryMsMin = 2 * 60_000;
const retryMsMax = 6 * 3_600_000;
/** Of its life, that a certificate is left alone. */
const shareUntilRenewal = 2 / 3;

/** A certificate that we get and renew ourselves: in the database, for all servers, ordered by one at a time. */
export function createAcmeCertificates(deps: AcmeCertificatesDeps): CertificateSource {
  const { name, directoryUrl, db, keyring, clock, log, maker } = deps;
  const served = createServed();
  const stopping = new AbortController();
  const proofs = createCache<Proof | null>({ clock, ttlMs: proofTtlMs, sizeMax: 1 });
  const proof = (): Promise<Proof | null> => proofs.get(name, () => findProof(db, name));
  let issued: string | null = null;
  let problem: string | null = null;
  let looking: Promise<void> | null = null;
  served.serve(maker.standIn(name, clock.now()));

  /** What was sealed under a key that nobody has any more is as good as gone. */
  function unsealed(sealed: string | null): string | null {
    try {
      return sealed === null ? null : keyring.unseal(sealed);
    } catch (error) {
      log.error({ error, name }, 'a key in the database was sealed under another SECRET_KEY; a new one is made');
      return null;
    }
  }

  /** Serves what is in the store; false when there is nothing that can be served. */
  function adopt(row: CertificateRow): boolean {
    problem = row.problem;
    if (row.certificate === null) return false;
    if (row.certificate === issued) return true;
    const key = unsealed(row.keySealed);
    if (key === null) return false;
    served.serve({ cert: row.certificate, key });
    issued = row.certificate;
    return true;
  }

  async function accountKey(): Promise<string> {
    const known = await findAccountKey(db, directoryUrl);
    const key = unsealed(known);
    if (key !== null) return key;
    const made = maker.newKey();
    const keySealed = keyring.seal(made);
    if (known !== null) await replaceAccountKey(db, known, keySealed);
    return keyring.unseal(await ensureAccountKey(db, directoryUrl, { keySealed, at: iso(clock.now()) }));
  }

  async function order(failures: number): Promise<void> {
    try {
      const { cert, key } = await deps.authority.issue({
        name,
        email: deps.email,
        accountKey: await accountKey(),
        async present(keyAuthorization) {
          await saveProof(db, name, keyAuthorization);
          proofs.drop(name);
        },
        answersHttp: deps.answersHttp(),
        signal: stopping.signal,
      });
      const { from, until } = validityOf(cert);
      const dueAt = iso(Math.floor(from + (until - from) * shareUntilRenewal));
      await saveCertificate(db, name, { certificate: cert, keySealed: keyring.seal(key), dueAt });
      log.info({ name, dueAt }, 'a certificate was issued');
    } catch (error) {
      // A stop is no failure: the next server goes on at once.
      if (stopping.signal.aborted) return saveFailure(db, name, { dueAt: iso(clock.now()), failures, problem });
      const retryMs = Math.max(retryAfterOf(error), Math.min(retryMsMax, retryMsMin * 2 ** failures));
      const dueAt = iso(clock.now() + retryMs);
      log.error({ error, name, dueAt }, 'no certificate was issued; it will be tried again');
      const said = (error as Error).message.replace(/\.$/, '');
      await saveFailure(db, name, {
        dueAt,
        failures: failures + 1,
        problem: `${directoryUrl} issued none: ${said}. The next attempt is at ${dueAt}.`,
      });
    }
  }

  async function renewSeals({ keySealed }: CertificateRow): Promise<void> {
    if (!keyring.isRotating) return;
    const account = await findAccountKey(db, directoryUrl);
    const freshAccount = account && keyring.renew(account);
    if (account && freshAccount) await replaceAccountKey(db, account, freshAccount);
    const freshKey = keySealed && keyring.renew(keySealed);
    if (keySealed && freshKey) await replaceCertificateKey(db, keySealed, freshKey);
  }

  async function look(): Promise<void> {
    const now = clock.now();
    const row = await ensureCertificate(db, name, directoryUrl, iso(now));
    const isServed = adopt(row);
    if (isServed) await renewSeals(row);
    // One that cannot be unsealed is not waited for.
    const isDue = Date.parse(row.dueAt) <= now || (!isServed && row.certificate !== null && row.failures === 0);
    if (!deps.areTermsAgreed || !isDue) return;
    if (!(await claimOrder(db, name, row.dueAt, iso(now + orderMsMax)))) return;
    await order(row.failures);
    proofs.drop(name);
    adopt(await ensureCertificate(db, name, directoryUrl, iso(clock.now())));
  }

  /** One at a time, no matter who asks. */
  const lookOnce = (): Promise<void> => {
    looking ??= look().finally(() => {
      looking = null;
    });
    return looking;
  };

  return {
    onChange: served.onChange,
    state: () => stateOfAcme({ ...deps, issued, problem }),
    async validationOf(asked): Promise<SecureContext | null> {
      const found = asked === name ? await proof() : null;
      return found && createSecureContext(maker.proof(name, Buffer.from(found.digest, 'hex'), clock.now()));
    },
    async keyAuthorizationOf(token) {
      const found = await proof();
      return found?.keyAuthorization.startsWith(`${token}.`) ? found.keyAuthorization : null;
    },
    // The authority comes to this port, so it must be open.
    whenListening: () => void lookOnce().catch((error) => log.warn({ error }, 'the certificate could not be read')),
    chores: [{ name: 'certificate', everyMs: lookEveryMs, run: lookOnce, onEveryProcess: true }],
    async stop() {
      stopping.abort();
      await looking?.catch(() => {});
    },
  };
}

const retryAfterOf = (error: unknown): number =>
  error instanceof Error && 'retryAfterMs' in error && typeof error.retryAfterMs === 'number' ? error.retryAfterMs : 0;

interface Standing extends Pick<AcmeCertificatesDeps, 'name' | 'areTermsAgreed' | 'clock'> {
  issued: string | null;
  problem: string | null;
}

function stateOfAcme({ name, areTermsAgreed, clock, issued, problem }: Standing): CertificateState {
  const why = areTermsAgreed ? problem : 'ACME_TERMS_AGREED is false, so none is asked for.';
  if (issued !== null) return stateOf(issued, clock.now(), why);
  return { status: 'DOWN', message: `There is no certificate for ${name} yet. ${why ?? 'It is being ordered.'}` };
}
