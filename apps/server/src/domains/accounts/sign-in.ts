import { fail, type Login } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { LoginThrottle } from './login-throttle.ts';
import type { MailLinks } from './mail-links.ts';
import type { MailQueue } from './mail-queue.ts';
import type { MailTemplates } from './mail-templates.ts';
import { deleteMailTokensOf } from './mail-token-store.ts';
import type { Passwords } from './passwords.ts';
import type { OpenSession, Sessions } from './sessions.ts';
import { findUserByEmail, lockUser, type UserRow, updatePassword } from './user-store.ts';
import type { Users } from './users.ts';

interface SignInDeps {
  db: Db;
  clock: Clock;
  mailQueue: MailQueue;
  templates: MailTemplates;
  links: MailLinks;
  passwords: Passwords;
  sessions: Sessions;
  throttle: LoginThrottle;
  users: Users;
}

/** Signing in by password, and getting a new one. */
export function createSignIn(deps: SignInDeps) {
  const { db, clock, mailQueue, templates, links, passwords, sessions, throttle, users } = deps;

  async function login({ email, password }: Login): Promise<OpenSession> {
    await throttle.wait(email);
    const user = await findUserByEmail(db, email);
    const isRight = await passwords.matches(password, user?.passwordHash ?? null);
    if (!user || !isRight) return fail('SVC_INVALID_CREDENTIALS');
    await throttle.clear(email);
    if (!users.isReady(user)) return fail('SVC_EMAIL_NOT_VERIFIED');
    return db.transaction(async (tx) => {
      // A password that was replaced while it was being compared must not outlive the reset as a session.
      const current = await lockUser(tx, user.id);
      if (current.passwordHash !== user.passwordHash) fail('SVC_INVALID_CREDENTIALS');
      return sessions.open(tx, current);
    });
  }

  function requestReset(email: string): void {
    mailQueue.later(async () => {
      const user = await findUserByEmail(db, email);
      const token = user && (await links.issue('RESET', user));
      return user && token ? templates.resetPassword(user.email, token) : null;
    });
  }

  async function confirmReset({ token, password }: { token: string; password: string }): Promise<OpenSession> {
    if (!(await links.isGood('RESET', token))) return fail('SVC_INVALID_TOKEN_LINK');
    const passwordHash = await passwords.hash(password);
    const { user, opened, ended } = await db.transaction(async (tx) => {
      const userId = (await links.claim(tx, 'RESET', token)) ?? fail('SVC_INVALID_TOKEN_LINK');
      const changed = await updatePassword(tx, userId, passwordHash, iso(clock.now()));
      // The link proved the address as well as a verification would.
      const user: UserRow = await users.becameReady(tx, changed);
      await deleteMailTokensOf(tx, userId);
      const ended = await sessions.endAll(tx, userId);
      return { user, opened: await sessions.open(tx, user), ended };
    });
    sessions.announceEnd(ended);
    await throttle.clear(user.email);
    mailQueue.later(async () => templates.passwordChanged(user.email));
    return opened;
  }

  return { login, requestReset, confirmReset };
}
