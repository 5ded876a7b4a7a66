import { fail, type User } from '@parley/contract';
import type { Db, Tx } from '../../core/db.ts';
import type { AccountsConfig, OnUserReady } from './config.ts';
import { claimFirstAccount, findUser, type UserRow } from './user-store.ts';

/** What an account is and may do, whichever way it came to be. */
export interface Users {
  get(id: string): Promise<User>;
  present(row: UserRow): User;
  isOperator(row: UserRow): boolean;
  /** The address is proven, or this instance does not ask for proof. */
  isReady(row: UserRow): boolean;
  /** To be called in the transaction that made the account ready: invitations take effect, the first account leads. */
  becameReady(tx: Tx, row: UserRow): Promise<UserRow>;
}

interface UsersDeps {
  db: Db;
  config: AccountsConfig;
  onUserReady: OnUserReady;
}

export function createUsers({ db, config, onUserReady }: UsersDeps): Users {
  const operatorEmails = new Set(config.operatorEmails.map((email) => email.toLowerCase()));

  function isOperator(row: UserRow): boolean {
    if (!config.isProduction) return true;
    if (operatorEmails.size === 0) return row.isOperator;
    // Only a proven address counts: anyone can register an address they do not own.
    return row.emailVerifiedAt !== null && operatorEmails.has(row.email.toLowerCase());
  }

  const present = (row: UserRow): User => ({
    id: row.id,
    email: row.email,
    name: row.name,
    emailVerified: row.emailVerifiedAt !== null,
    isOperator: isOperator(row),
    createdAt: row.createdAt,
  });

  return {
    present,
    isOperator,
    isReady: (row) => row.emailVerifiedAt !== null || !config.requireVerifiedEmail,
    async get(id) {
      return present((await findUser(db, id)) ?? fail('SVC_SESSION_EXPIRED'));
    },
    async becameReady(tx, row) {
      await claimFirstAccount(tx, row.id);
      await onUserReady(tx, { id: row.id, email: row.email });
      return (await findUser(tx, row.id)) ?? row;
    },
  };
}
