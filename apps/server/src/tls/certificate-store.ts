import { createHash } from 'node:crypto';
import type { Queryable } from '../core/db.ts';
import { sql } from '../core/sql.ts';

export interface CertificateRow {
  certificate: string | null;
  keySealed: string | null;
  dueAt: string;
  failures: number;
  problem: string | null;
}

/** The row of a name. Made when there is none, and due at once when it is another authority's. */
export async function ensureCertificate(
  db: Queryable,
  name: string,
  directoryUrl: string,
  at: string,
): Promise<CertificateRow> {
  const read = sql`
    select certificate, key_sealed as "keySealed", due_at as "dueAt", failures, problem
    from certificates where name = ${name} and directory_url = ${directoryUrl}`;
  const [known] = await db.query<CertificateRow>(read);
  if (known) return known;
  await db.execute(sql`
    insert into certificates (name, directory_url, due_at) values (${name}, ${directoryUrl}, ${at})
    on conflict (name) do update set directory_url = excluded.directory_url, due_at = excluded.due_at, failures = 0,
      problem = null
    where certificates.directory_url <> excluded.directory_url`);
  const [made] = await db.query<CertificateRow>(read);
  return made ?? { certificate: null, keySealed: null, dueAt: at, failures: 0, problem: null };
}

/** True for the one that moved it on: nobody else makes an order before then. */
export async function claimOrder(db: Queryable, name: string, dueAt: string, until: string): Promise<boolean> {
  const moved = await db.execute(
    sql`update certificates set due_at = ${until} where name = ${name} and due_at = ${dueAt}`,
  );
  return moved === 1;
}

export async function saveCertificate(
  db: Queryable,
  name: string,
  issued: { certificate: string; keySealed: string; dueAt: string },
): Promise<void> {
  await db.execute(sql`
    update certificates set certificate = ${issued.certificate}, key_sealed = ${issued.keySealed},
      due_at = ${issued.dueAt}, failures = 0, problem = null, proof = null
    where name = ${name}`);
}

export async function saveFailure(
  db: Queryable,
  name: string,
  failure: { dueAt: string; failures: number; problem: string | null },
): Promise<void> {
  await db.execute(sql`
    update certificates set due_at = ${failure.dueAt}, failures = ${failure.failures}, problem = ${failure.problem}, proof = null
    where name = ${name}`);
}

export interface Proof {
  /** SHA-256, in hex. */
  digest: string;
  keyAuthorization: string;
}

/** The digest first: servers of the version before read no more of it. */
export async function saveProof(db: Queryable, name: string, keyAuthorization: string): Promise<void> {
  const digest = createHash('sha256').update(keyAuthorization).digest('hex');
  await db.execute(sql`update certificates set proof = ${`${digest} ${keyAuthorization}`} where name = ${name}`);
}

export async function findProof(db: Queryable, name: string): Promise<Proof | null> {
  const [row] = await db.query<{ proof: string | null }>(sql`select proof from certificates where name = ${name}`);
  const [digest = '', keyAuthorization = ''] = row?.proof?.split(' ') ?? [];
  return digest === '' ? null : { digest, keyAuthorization };
}

/** The key of our account: the first that was made, by any process. */
export async function ensureAccountKey(
  db: Queryable,
  directoryUrl: string,
  fresh: { keySealed: string; at: string },
): Promise<string> {
  await db.execute(sql`
    insert into acme_accounts (directory_url, key_sealed, created_at)
    values (${directoryUrl}, ${fresh.keySealed}, ${fresh.at}) on conflict do nothing`);
  return (await findAccountKey(db, directoryUrl)) ?? fresh.keySealed;
}

export async function findAccountKey(db: Queryable, directoryUrl: string): Promise<string | null> {
  const [row] = await db.query<{ sealed: string }>(
    sql`select key_sealed as sealed from acme_accounts where directory_url = ${directoryUrl}`,
  );
  return row?.sealed ?? null;
}

export async function replaceAccountKey(db: Queryable, before: string, after: string): Promise<void> {
  await db.execute(sql`update acme_accounts set key_sealed = ${after} where key_sealed = ${before}`);
}

export async function replaceCertificateKey(db: Queryable, before: string, after: string): Promise<void> {
  await db.execute(sql`update certificates set key_sealed = ${after} where key_sealed = ${before}`);
}
