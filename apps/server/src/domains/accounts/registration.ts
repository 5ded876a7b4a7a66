import type { Register } from '@parley/contract';
import { fail } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Ids } from '../../core/ids.ts';
import type { AccountsConfig } from './config.ts';
import type { MailLinks } from './mail-links.ts';
import type { MailQueue } from './mail-queue.ts';
import type { MailTemplates } from './mail-templates.ts';
import type { Passwords } from './passwords.ts';
import type { OpenSession, Sessions } from './sessions.ts';
import {
  findUserByEmail,
  getUser,
  insertOrFindUser,
  type UserRow,
  updatePassword,
  updateVerified,
} from './user-store.ts';
import type { Users } from './users.ts';

export interface RegistrationDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  config: AccountsConfig;
  mailQueue: MailQueue;
  templates: MailTemplates;
  links: MailLinks;
  passwords: Passwords;
  sessions: Sessions;
  users: Users;
}

export interface Seed {
  email: string;
  password: string;
  name?: string | null;
}

/** From an unknown address to a proven one. No answer says whether an address is known. */
export function createRegistration(deps: RegistrationDeps) {
  const { db, clock, ids, config, mailQueue, templates, links, passwords, sessions, users } = deps;
  const now = (): string => iso(clock.now());

  async function register({ email, password, name }: Register) {
    const passwordHash = await passwords.hash(password);
    const id = ids.newUuid();
    const draft = { id, email, name: name ?? null, passwordHash, emailVerifiedAt: null, createdAt: now() };
    const user = await db.transaction(async (tx) => {
      const stored = await insertOrFindUser(tx, draft, config.requireVerifiedEmail);
      return stored.id === id && users.isReady(stored) ? users.becameReady(tx, stored) : stored;
    });
    mailQueue.later(() => (user.id === id ? verificationMail(user) : alreadyRegisteredMail(user)));
    return { user: { email, name: name ?? null }, verificationRequired: config.requireVerifiedEmail };
  }

  async function verificationMail(user: UserRow) {
    const token = await links.issue('VERIFY', user);
    return token === null ? null : templates.verifyEmail(user.email, token);
  }

  /** For an address that is known already. */
  async function alreadyRegisteredMail(user: UserRow) {
    if (!users.isReady(user)) return verificationMail(user);
    return (await links.mayMail('REGISTERED', user)) ? templates.alreadyRegistered(user.email) : null;
  }

  function resend(email: string): void {
    mailQueue.later(async () => {
      const user = await findUserByEmail(db, email);
      return user && user.emailVerifiedAt === null ? verificationMail(user) : null;
    });
  }

  async function verify(token: string): Promise<OpenSession> {
    const { opened, ended } = await db.transaction(async (tx) => {
      const userId = (await links.claim(tx, 'VERIFY', token)) ?? fail('SVC_INVALID_TOKEN_LINK');
      const wasReady = users.isReady(await getUser(tx, userId));
      const user = await users.becameReady(tx, await updateVerified(tx, userId, now()));
      // A session from before the address was proven may be another person's.
      const ended = wasReady ? [] : await sessions.endAll(tx, userId);
      return { opened: await sessions.open(tx, user), ended };
    });
    sessions.announceEnd(ended);
    return opened;
  }

  /** The account of a development machine: proven, and with this password whatever it had before. */
  async function seed({ email, password, name = null }: Seed): Promise<OpenSession> {
    const passwordHash = await passwords.hash(password);
    const draft = { id: ids.newUuid(), email, name, passwordHash, emailVerifiedAt: now(), createdAt: now() };
    return db.transaction(async (tx) => {
      const { id } = await insertOrFindUser(tx, draft, false);
      const user = await users.becameReady(tx, await updatePassword(tx, id, passwordHash, now()));
      return sessions.open(tx, user);
    });
  }

  return { register, resend, verify, seed };
}
