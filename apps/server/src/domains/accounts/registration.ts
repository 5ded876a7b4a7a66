import type { Register, VerifyEmail } from '@parley/contract';
import { fail } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Ids } from '../../core/ids.ts';
import type { Admission } from './admission.ts';
import type { Claims } from './claims.ts';
import type { AccountsConfig } from './config.ts';
import type { Entry, SecondStep } from './factors/second-step.ts';
import type { MailBudget } from './mail-budget.ts';
import type { MailQueue } from './mail-queue.ts';
import type { MailTemplates } from './mail-templates.ts';
import type { Passwords } from './passwords.ts';
import type { OpenSession, Sessions } from './sessions.ts';
import { findUserByEmail, insertOrFindUser, type UserRow, updatePassword, updateProven } from './user-store.ts';
import type { Users } from './users.ts';
import type { VerificationLinks } from './verification-links.ts';

interface RegistrationDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  config: AccountsConfig;
  admission: Admission;
  mailQueue: MailQueue;
  templates: MailTemplates;
  mayMail: MailBudget;
  verificationLinks: VerificationLinks;
  passwords: Passwords;
  sessions: Sessions;
  users: Users;
  secondStep: SecondStep;
  claims: Claims;
}

export interface Seed {
  email: string;
  password: string;
  name?: string | null;
}

/** From an unknown address to a proven one. No answer says whether an address is known. */
export function createRegistration(deps: RegistrationDeps) {
  const { db, clock, ids, config, mailQueue, templates, passwords, sessions, users } = deps;
  const { admission, mayMail, verificationLinks, secondStep, claims } = deps;
  const now = (): string => iso(clock.now());

  async function register({ email, password, name }: Register, ip: string) {
    admission.assertOpen(email);
    if (config.requireVerifiedEmail) mailQueue.assertCanSend();
    const passwordHash = await passwords.hash(password);
    const id = ids.newUuid();
    const draft = { id, email, name: name ?? null, passwordHash, emailVerifiedAt: null, createdAt: now() };
    const user = await db.transaction(async (tx) => {
      if (!(await admission.admits(tx, email))) return findUserByEmail(tx, email);
      const stored = await insertOrFindUser(tx, draft);
      return stored.id === id && users.isReady(stored) ? users.becameReady(tx, stored) : stored;
    });
    if (user) mailQueue.later(() => (user.id === id ? firstMail(user, ip) : furtherMail(user)));
    return { user: { email, name: name ?? null }, verificationRequired: config.requireVerifiedEmail };
  }

  const verificationMail = (user: UserRow, token: string | null) =>
    token === null ? null : templates.verifyEmail(user.email, token);

  /** A development machine has one person: there the token alone stands for the password that was registered (ADR 90). */
  const firstMail = async (user: UserRow, ip: string) =>
    verificationMail(user, await verificationLinks.add(user.id, config.isProduction ? null : ip));

  /** For an address that is known already. */
  async function furtherMail(user: UserRow) {
    if (!users.isReady(user)) return verificationMail(user, await verificationLinks.add(user.id, null));
    return (await mayMail('REGISTERED', user.id)) ? templates.alreadyRegistered(user.email) : null;
  }

  function resend(email: string): void {
    mailQueue.assertCanSend();
    mailQueue.later(async () => {
      const user = await findUserByEmail(db, email);
      const isOpen = user !== undefined && user.emailVerifiedAt === null;
      return isOpen ? verificationMail(user, await verificationLinks.renew(user.id)) : null;
    });
  }

  const lookAt = async (token: string) => {
    const { email, expiresAt } = (await verificationLinks.find(token)) ?? fail('SVC_INVALID_TOKEN_LINK');
    return { email, expiresAt };
  };

  /** The account is its prover's alone: what others set before, password, name, factors and sessions, ends here. */
  async function verify({ token, password, name }: VerifyEmail, ip: string): Promise<Entry> {
    await lookAt(token);
    const passwordHash = password === undefined ? null : await passwords.hash(password);
    const { entry, ended } = await db.transaction(async (tx) => {
      const claimed = (await verificationLinks.claim(tx, token)) ?? fail('SVC_INVALID_TOKEN_LINK');
      const { user: before, confirmsFrom } = claimed;
      if (!users.isReady(before)) await admission.assertAdmitted(tx, before.email);
      const isConfirmed = passwordHash === null && confirmsFrom === ip;
      const kept = isConfirmed ? before : { passwordHash, name: null };
      const claim = { passwordHash: kept.passwordHash, name: name ?? kept.name, at: now() };
      const { user, ended } = isConfirmed
        ? { user: await claims.confirm(tx, before.id, claim), ended: [] }
        : await claims.takeOver(tx, before.id, claim);
      return { entry: await secondStep.enter(tx, user), ended };
    });
    sessions.announceEnd(ended);
    return entry;
  }

  /** The account of a development machine: proven, and with this password whatever it had before. */
  async function seed({ email, password, name = null }: Seed): Promise<OpenSession> {
    const passwordHash = await passwords.hash(password);
    const draft = { id: ids.newUuid(), email, name, passwordHash, emailVerifiedAt: now(), createdAt: now() };
    return db.transaction(async (tx) => {
      const { id } = await insertOrFindUser(tx, draft);
      await updatePassword(tx, id, passwordHash);
      const user = await users.becameReady(tx, await updateProven(tx, id, now()));
      return sessions.open(tx, user);
    });
  }

  const policy = () => ({
    policy: config.registration.policy,
    domains: [...config.registration.domains],
    verificationRequired: config.requireVerifiedEmail,
    sendsMail: mailQueue.canSend,
  });

  return { policy, register, resend, lookAt, verify, seed };
}
