import { type FirstAccount, fail } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Ids } from '../../core/ids.ts';
import type { Claims } from './claims.ts';
import type { AccountsConfig } from './config.ts';
import {
  claimFirstAccountLink,
  deleteFirstAccountLink,
  deleteFirstAccountLinks,
  hasFirstAccountLink,
  replaceFirstAccountLink,
} from './first-account-store.ts';
import type { Passwords } from './passwords.ts';
import { hashOf, newSecret } from './secrets.ts';
import type { OpenSession, Sessions } from './sessions.ts';
import { hasFirstAccount, insertOrFindUser } from './user-store.ts';

interface FirstAccountDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  config: AccountsConfig;
  passwords: Passwords;
  claims: Claims;
  sessions: Sessions;
}

const lifeMs = 24 * 60 * 60_000;

/** The first account without mail: a person who reads what the server prints runs this instance (ADR 116). */
export function createFirstAccount({ db, clock, ids, config, passwords, claims, sessions }: FirstAccountDeps) {
  const now = (): string => iso(clock.now());
  let printedBy: string | null = null;

  /** A new link of this server, in the place of its older one; null once there is an account. */
  async function renewLink(server: string): Promise<string | null> {
    if (await hasFirstAccount(db)) return null;
    const token = newSecret();
    const expiresAt = iso(clock.now() + lifeMs);
    await replaceFirstAccountLink(db, { server, tokenHash: hashOf(token), createdAt: now(), expiresAt });
    printedBy = server;
    return `${config.publicUrl}/first-account?token=${token}`;
  }

  async function invalidateLink(): Promise<void> {
    if (printedBy !== null) await deleteFirstAccountLink(db, printedBy);
    printedBy = null;
  }

  async function create({ token, email, password, name: given }: FirstAccount): Promise<OpenSession> {
    const name = given ?? null;
    const invalid = (): never =>
      fail('SVC_INVALID_TOKEN_LINK', {
        message:
          'This link is not valid any more. Restart the server for a new one, or sign in if you have an account.',
      });
    if (!(await hasFirstAccountLink(db, hashOf(token), now()))) invalid();
    const passwordHash = await passwords.hash(password);
    const draft = { id: ids.newUuid(), email, name, passwordHash, emailVerifiedAt: null, createdAt: now() };
    const { opened, ended } = await db.transaction(async (tx) => {
      if (!(await claimFirstAccountLink(tx, hashOf(token), now()))) invalid();
      const { id } = await insertOrFindUser(tx, draft);
      // Their row is locked by now: who used another link, or came by mail, is seen.
      if (await hasFirstAccount(tx)) invalid();
      const { user, ended } = await claims.takeOver(tx, id, { passwordHash, name, at: now() });
      // Another was first, by another server's link or by mail: nothing of this stays.
      if (!user.isOperator) invalid();
      await deleteFirstAccountLinks(tx);
      return { opened: await sessions.open(tx, user), ended };
    });
    sessions.announceEnd(ended);
    return opened;
  }

  return { renewLink, invalidateLink, create };
}
