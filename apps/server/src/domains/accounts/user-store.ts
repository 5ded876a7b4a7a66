import type { Queryable, Tx } from '../../core/db.ts';
import { raw, type Sql, sql } from '../../core/sql.ts';

export interface UserRow {
  id: string;
  email: string;
  name: string | null;
  passwordHash: string | null;
  emailVerifiedAt: string | null;
  /** The first account of the instance. */
  isOperator: boolean;
  createdAt: string;
}

export const userColumns = raw(`u.id, u.email, u.name, u.password_hash as "passwordHash",
  u.email_verified_at as "emailVerifiedAt", u.is_operator as "isOperator", u.created_at as "createdAt"`);

type NewUser = Omit<UserRow, 'isOperator'>;

/** Stores the user, or finds the one who has the address, unchanged: its id then differs from the one given. */
export async function insertOrFindUser(tx: Tx, user: NewUser): Promise<UserRow> {
  const [row] = await tx.query<UserRow>(sql`
    insert into users as u (id, email, name, password_hash, email_verified_at, created_at, last_registration_at)
    values (${user.id}, ${user.email}, ${user.name}, ${user.passwordHash}, ${user.emailVerifiedAt},
            ${user.createdAt}, ${user.createdAt})
    on conflict (lower(email)) do update set last_registration_at = excluded.last_registration_at
    returning ${userColumns}`);
  if (!row) throw new Error('an upsert of a user returned no row');
  return row;
}

export async function findUser(db: Queryable, id: string): Promise<UserRow | undefined> {
  const [row] = await db.query<UserRow>(sql`select ${userColumns} from users u where u.id = ${id}`);
  return row;
}

export async function getUser(db: Queryable, id: string): Promise<UserRow> {
  const user = await findUser(db, id);
  if (!user) throw new Error('a user that something refers to has no row');
  return user;
}

/** Locks the user's row until the transaction ends. */
export async function lockUser(tx: Tx, id: string): Promise<UserRow> {
  const [row] = await tx.query<UserRow>(sql`select ${userColumns} from users u where u.id = ${id} for update`);
  if (!row) throw new Error('a user that something refers to has no row');
  return row;
}

export async function findUserByEmail(db: Queryable, email: string): Promise<UserRow | undefined> {
  const [row] = await db.query<UserRow>(sql`
    select ${userColumns} from users u where lower(u.email) = lower(${email})`);
  return row;
}

/** Marks the address as proven, and leaves what the account has. */
export const updateProven = (tx: Tx, id: string, at: string): Promise<UserRow> =>
  updateUser(tx, id, sql`email_verified_at = coalesce(u.email_verified_at, ${at})`);

/** Marks the address as proven; password and name are what came with the proof, and nothing from before it. */
export const updateClaimed = (
  tx: Tx,
  id: string,
  claim: { passwordHash: string | null; name: string | null; at: string },
): Promise<UserRow> =>
  updateUser(tx, id, sql`email_verified_at = ${claim.at}, password_hash = ${claim.passwordHash}, name = ${claim.name}`);

export const updatePassword = (tx: Tx, id: string, passwordHash: string): Promise<UserRow> =>
  updateUser(tx, id, sql`password_hash = ${passwordHash}`);

async function updateUser(tx: Tx, id: string, changes: Sql): Promise<UserRow> {
  const [row] = await tx.query<UserRow>(sql`
    update users u set ${changes} where u.id = ${id} returning ${userColumns}`);
  if (!row) throw new Error('a user who changes has no row');
  return row;
}

/** Makes the user the operator if there is none. */
export async function claimFirstAccount(tx: Tx, id: string): Promise<void> {
  await tx.execute(sql`
    with won as (insert into first_account (user_id) values (${id}) on conflict do nothing returning user_id)
    update users set is_operator = true where id in (select user_id from won)`);
}

export async function hasFirstAccount(db: Queryable): Promise<boolean> {
  return (await db.query(sql`select 1 from first_account`)).length > 0;
}
