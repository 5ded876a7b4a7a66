import { t } from '../i18n/t.ts';

/** The service decides what an address is; this catches a slip before it is sent. */
export const emailProblem = (email: string): string | undefined =>
  /^[^\s@]+@[^\s@]+$/.test(email) ? undefined : t('accounts.enterEmail');

/** Where development keeps its mail: nothing leaves the machine. */
export const devMailPath = '/dev/mail';
