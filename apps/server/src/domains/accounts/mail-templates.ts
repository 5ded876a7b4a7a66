import { escapeHtml } from '@parley/page-build/html';
import type { MailMessage } from '../../core/ports.ts';

/** Every mail of an account. Links start with the configured address, never with what a request called us. */
export interface MailTemplates {
  verifyEmail(to: string, token: string): MailMessage;
  resetPassword(to: string, token: string): MailMessage;
  /** A registration with an address that has an account. */
  alreadyRegistered(to: string): MailMessage;
  passwordChanged(to: string): MailMessage;
  factorChanged(to: string, change: 'added' | 'removed', what: string): MailMessage;
  /** Signed in, or proven again, with a recovery code. */
  recoveryCodeUsed(to: string, left: number): MailMessage;
  /** A sign-in with a browser that was not known. */
  newDevice(to: string, from: { device: string | null; place: string | null; at: string }): MailMessage;
}

interface Draft {
  to: string;
  subject: string;
  before: string;
  link?: { label: string; url: string };
  after: string;
}

export function createMailTemplates(publicUrl: string): MailTemplates {
  const base = publicUrl.replace(/\/+$/, '');

  return {
    verifyEmail: (to, token) =>
      compose({
        to,
        subject: 'Confirm your e-mail address',
        before: 'Somebody, hopefully you, registered this address. Confirm that it is yours and choose your password:',
        link: { label: 'Confirm e-mail address', url: `${base}/verify-email?token=${token}` },
        after: 'The link works once, for 24 hours. If it was not you, leave it: nothing happens without it.',
      }),
    resetPassword: (to, token) =>
      compose({
        to,
        subject: 'Set a new password',
        before: 'Somebody, hopefully you, asked for a new password for this address. Set it here:',
        link: { label: 'Set a new password', url: `${base}/reset-password?token=${token}` },
        after: 'The link works once, for one hour. If it was not you, leave it: your password stays as it is.',
      }),
    alreadyRegistered: (to) =>
      compose({
        to,
        subject: 'You already have an account',
        before: 'Somebody, hopefully you, tried to register this address, which has an account already. Sign in here:',
        link: { label: 'Sign in', url: `${base}/login` },
        after: 'If you forgot the password, ask for a new one on that page. If it was not you, nothing has changed.',
      }),
    passwordChanged: (to) =>
      compose({
        to,
        subject: 'Your password was changed',
        before: 'The password of your account was changed, and every other session was signed out.',
        after: 'If it was not you, set a new password at once: your mailbox may be in other hands.',
      }),
    factorChanged: (to, change, what) =>
      compose({
        to,
        subject: `Two-factor sign-in: ${what} was ${change}`,
        before: `Of your account ${what} was ${change}. If it was you, there is nothing to do. See your factors:`,
        link: { label: 'Your account', url: `${base}/account` },
        after: 'If it was not you, change your password there and end the sessions that you do not know.',
      }),
    recoveryCodeUsed: (to, left) =>
      compose({
        to,
        subject: 'A recovery code was used',
        before: `One of your recovery codes was used; ${left} are left. Make new ones before they run out:`,
        link: { label: 'Your account', url: `${base}/account` },
        after: 'If it was not you, change your password there and make new codes.',
      }),
    newDevice: (to, { device, place, at }) =>
      compose({
        to,
        subject: 'New sign-in to your account',
        before: `Your account was signed in to from a new browser: ${device ?? 'unknown'}, network: ${place ?? 'unknown'}, at ${at}. If it was you, there is nothing to do. See where you are signed in:`,
        link: { label: 'Your sessions', url: `${base}/account` },
        after: 'If it was not you, change your password there: that signs out everywhere else.',
      }),
  };
}

function compose({ to, subject, before, link, after }: Draft): MailMessage {
  const text = [before, link?.url, after].filter((part) => part !== undefined).join('\n\n');
  const anchor = link ? `<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.label)}</a></p>` : '';
  const html = `<!doctype html><html lang="en"><body><p>${escapeHtml(before)}</p>${anchor}<p>${escapeHtml(after)}</p></body></html>`;
  return { to, subject, text: `${text}\n`, html };
}
