import { type ChangePassword, fail, type Login } from '@parley/contract';
import type { SessionCaller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Admission } from './admission.ts';
import type { Factors } from './factors/factors.ts';
import type { Entry, SecondStep } from './factors/second-step.ts';
import type { LoginThrottle } from './login-throttle.ts';
import type { MailQueue } from './mail-queue.ts';
import type { MailTemplates } from './mail-templates.ts';
import { deleteMailTokensOf } from './mail-token-store.ts';
import type { Passwords } from './passwords.ts';
import type { ResetLinks } from './reset-links.ts';
import type { Origin, SecurityLog } from './security-log.ts';
import type { Sessions } from './sessions.ts';
import { findUserByEmail, getUser, lockUser, type UserRow, updateClaimed, updatePassword } from './user-store.ts';
import type { Users } from './users.ts';
import { deleteVerificationLinksOf } from './verification-link-store.ts';

interface SignInDeps {
  db: Db;
  clock: Clock;
  admission: Admission;
  mailQueue: MailQueue;
  templates: MailTemplates;
  resetLinks: ResetLinks;
  securityLog: SecurityLog;
  passwords: Passwords;
  sessions: Sessions;
  throttle: LoginThrottle;
  users: Users;
  secondStep: SecondStep;
  factors: Factors;
}

const unmailed =
  'This address is not verified, and this instance sends no mail. Its operator sets SMTP_URL; the first account is made by the link that the server prints at its start.';

/** Signing in by password, and getting a new one. */
export function createSignIn(deps: SignInDeps) {
  const { db, clock, admission, mailQueue, templates, resetLinks, passwords, sessions, throttle, users } = deps;
  const { securityLog, secondStep, factors } = deps;

  const now = (): string => iso(clock.now());

  /** Not waited for: how long a refusal takes must not say whether the address is known. */
  function noteFailure(user: UserRow, from: Origin, reason: string): void {
    void securityLog('account.sign_in_failed', user, from, { reason });
  }

  async function login({ email, password }: Login, from: Origin): Promise<Entry> {
    await throttle.wait(email);
    const user = await findUserByEmail(db, email);
    const isRight = await passwords.matches(password, user?.passwordHash ?? null);
    if (user && !isRight) noteFailure(user, from, 'WRONG_PASSWORD');
    if (!user || !isRight) return fail('SVC_INVALID_CREDENTIALS');
    await throttle.clear(email);
    if (!users.isReady(user)) {
      noteFailure(user, from, 'EMAIL_NOT_VERIFIED');
      return mailQueue.canSend ? fail('SVC_EMAIL_NOT_VERIFIED') : fail('SVC_EMAIL_NOT_VERIFIED', { message: unmailed });
    }
    return db.transaction(async (tx) => {
      // A password that was replaced while it was being compared must not outlive the reset as a session.
      const current = await lockUser(tx, user.id);
      if (current.passwordHash !== user.passwordHash) fail('SVC_INVALID_CREDENTIALS');
      return secondStep.enter(tx, current);
    });
  }

  function requestReset(email: string, from: Origin): void {
    mailQueue.assertCanSend();
    mailQueue.later(async () => {
      const user = await findUserByEmail(db, email);
      const token = user && (await resetLinks.issue(user.id));
      if (!user || !token) return null;
      await securityLog('account.password_reset_requested', user, from);
      return templates.resetPassword(user.email, token);
    });
  }

  async function confirmReset({ token, password }: { token: string; password: string }, from: Origin): Promise<Entry> {
    if (!(await resetLinks.isGood(token))) return fail('SVC_INVALID_TOKEN_LINK');
    const passwordHash = await passwords.hash(password);
    const { user, entry, ended } = await db.transaction(async (tx) => {
      const userId = (await resetLinks.claim(tx, token)) ?? fail('SVC_INVALID_TOKEN_LINK');
      const before = await lockUser(tx, userId);
      if (!users.isReady(before)) await admission.assertAdmitted(tx, before.email);
      // The link proves the address as a verification does, so nothing from before the proof stays, a name neither.
      const changed =
        before.emailVerifiedAt === null
          ? await users.becameReady(tx, await updateClaimed(tx, userId, { passwordHash, name: null, at: now() }))
          : await updatePassword(tx, userId, passwordHash);
      await deleteMailTokensOf(tx, userId);
      await deleteVerificationLinksOf(tx, userId);
      if (before.emailVerifiedAt === null) await factors.deleteAll(tx, userId);
      const ended = await sessions.endAll(tx, userId);
      return { user: changed, entry: await secondStep.enter(tx, changed), ended };
    });
    sessions.announceEnd(ended);
    await securityLog('account.password_reset', user, from, { sessionsEnded: ended.length });
    await throttle.clear(user.email);
    mailQueue.later(async () => templates.passwordChanged(user.email));
    return entry;
  }

  async function changePassword(
    caller: SessionCaller,
    { currentPassword, password }: ChangePassword,
    from: Origin,
  ): Promise<void> {
    await throttle.wait(caller.email);
    const user = await getUser(db, caller.userId);
    if (!(await passwords.matches(currentPassword, user.passwordHash))) {
      await securityLog('account.password_change_failed', user, from);
      fail('SVC_WRONG_PASSWORD');
    }
    await throttle.clear(user.email);
    const passwordHash = await passwords.hash(password);
    const ended = await db.transaction(async (tx) => {
      const current = await lockUser(tx, user.id);
      if (current.passwordHash !== user.passwordHash) fail('SVC_WRONG_PASSWORD');
      await updatePassword(tx, user.id, passwordHash);
      await deleteMailTokensOf(tx, user.id);
      return sessions.endAll(tx, user.id, caller.sessionId);
    });
    sessions.announceEnd(ended);
    await securityLog('account.password_changed', user, from, { sessionsEnded: ended.length });
    mailQueue.later(async () => templates.passwordChanged(user.email));
  }

  return { login, requestReset, confirmReset, changePassword };
}
