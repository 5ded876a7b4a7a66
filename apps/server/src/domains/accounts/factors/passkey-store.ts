import type { Passkey } from '@parley/contract';
import type { Queryable, Tx } from '../../../core/db.ts';
import { raw, sql } from '../../../core/sql.ts';

export interface PasskeyRow extends Passkey {
  userId: string;
  credentialId: string;
  publicKey: string;
  counter: number;
}

const columns = raw(`id, user_id as "userId", credential_id as "credentialId", public_key as "publicKey",
  counter::float8 as counter, name, created_at as "createdAt", last_used_at as "lastUsedAt"`);

/** False when the credential is known already. */
export async function insertPasskey(tx: Tx, passkey: Omit<PasskeyRow, 'lastUsedAt'>): Promise<boolean> {
  const inserted = await tx.execute(sql`
    insert into passkeys (id, user_id, credential_id, public_key, counter, name, created_at)
    values (${passkey.id}, ${passkey.userId}, ${passkey.credentialId}, ${passkey.publicKey}, ${passkey.counter},
            ${passkey.name}, ${passkey.createdAt})
    on conflict (credential_id) do nothing`);
  return inserted > 0;
}

export async function listPasskeys(db: Queryable, userId: string): Promise<PasskeyRow[]> {
  return db.query(sql`select ${columns} from passkeys where user_id = ${userId} order by created_at, id`);
}

export async function findPasskey(db: Queryable, credentialId: string): Promise<PasskeyRow | undefined> {
  const [row] = await db.query<PasskeyRow>(sql`select ${columns} from passkeys where credential_id = ${credentialId}`);
  return row;
}

/** Notes a use; false when the counter did not grow since, as that of a copied key would not. */
export async function notePasskeyUse(tx: Tx, id: string, counter: number, at: string): Promise<boolean> {
  const noted = await tx.execute(sql`
    update passkeys set counter = ${counter}, last_used_at = ${at}
    where id = ${id} and (counter < ${counter} or (counter = 0 and ${counter} = 0))`);
  return noted > 0;
}

export async function updatePasskeyName(
  db: Queryable,
  userId: string,
  id: string,
  name: string,
): Promise<PasskeyRow | undefined> {
  const [row] = await db.query<PasskeyRow>(sql`
    update passkeys set name = ${name} where id = ${id} and user_id = ${userId} returning ${columns}`);
  return row;
}

export async function deletePasskey(tx: Tx, userId: string, id: string): Promise<boolean> {
  return (await tx.execute(sql`delete from passkeys where id = ${id} and user_id = ${userId}`)) > 0;
}
