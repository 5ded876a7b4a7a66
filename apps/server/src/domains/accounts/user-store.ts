import type { Queryable, Tx } from '../../core/db.ts';
import { raw, sql } from '../../core/sql.ts';

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

/**
 * Stores the user, or finds the one who has the address: its id then differs from the one given. With
 * `replacesUnproven` the newest password and name count until the address is verified.
 */
export async function insertOrFindUser(tx: Tx, user: NewUser, replacesUnproven: boolean): Promise<UserRow> {
  const [row] = await tx.query<UserRow>(sql`
    insert into users as u (id, email, name, password_hash, email_verified_at, created_at, last_registration_at)
    values (${user.id}, ${user.email}, ${user.name}, ${user.passwordHash}, ${user.emailVerifiedAt},
            ${user.createdAt}, ${user.createdAt})
    on conflict (lower(email)) do update set
      last_registration_at = excluded.last_registration_at,
      password_hash = case when ${replacesUnproven} and u.email_verified_at is null then excluded.password_hash
                           else u.password_hash end,
      name = case when ${replacesUnproven} and u.email_verified_at is null then excluded.name else u.name end
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

/** Marks the address as proven. */
export async function updateVerified(tx: Tx, id: string, at: string): Promise<UserRow> {
  const [row] = await tx.query<UserRow>(sql`
    update users u set email_verified_at = coalesce(u.email_verified_at, ${at})
    where u.id = ${id} returning ${userColumns}`);
  if (!row) throw new Error('a verified user has no row');
  return row;
}

/** Sets the password of a user who has just verified the address. */
export async function updatePassword(tx: Tx, id: string, passwordHash: string, at: string): Promise<UserRow> {
  const [row] = await tx.query<UserRow>(sql`
    update users u set password_hash = ${passwordHash}, email_verified_at = coalesce(u.email_verified_at, ${at})
    where u.id = ${id} returning ${userColumns}`);
  if (!row) throw new Error('a user with a new password has no row');
  return row;
}

/** Makes the user the operator if there is none. */
export async function claimFirstAccount(tx: Tx, id: string): Promise<void> {
  await tx.execute(sql`
    with won as (insert into first_account (user_id) values (${id}) on conflict do nothing returning user_id)
    update users set is_operator = true where id in (select user_id from won)`);
}
