import { t } from '../i18n/t.ts';

/** Which field of a form the service's refusal of a common password belongs to. */
export const commonPassword = { SVC_PASSWORD_TOO_COMMON: 'password' } as const;

const [lengthMin, lengthMax] = [8, 128];

/** Length is the only rule of form; the service refuses the commonest. */
export function passwordProblem(password: string): string | undefined {
  if (password.length < lengthMin) return t('accounts.atLeast', { min: lengthMin });
  return password.length > lengthMax ? t('accounts.atMost', { max: lengthMax }) : undefined;
}
