import { fail } from '@parley/contract';
import type { Tx } from '../../core/db.ts';
import type { AccountsConfig, IsInvited } from './config.ts';
import { hasFirstAccount } from './user-store.ts';

/** Who may have an account here. */
export interface Admission {
  /** Refuses what is refused no matter who asks; it looks at nothing of the address but its domain. */
  assertOpen(email: string): void;
  /** Whether the address may get an account now. The very first account needs no invitation. */
  admits(tx: Tx, email: string): Promise<boolean>;
  /** The same, for who has proven the address: they may know why not. */
  assertAdmitted(tx: Tx, email: string): Promise<void>;
}

interface AdmissionDeps {
  config: AccountsConfig;
  isInvited: IsInvited;
}

export function createAdmission({ config, isInvited }: AdmissionDeps): Admission {
  const { policy, domains } = config.registration;
  const isOfDomain = (email: string): boolean =>
    domains.length === 0 || domains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase());

  function assertOpen(email: string): void {
    if (policy === 'CLOSED') fail('SVC_REGISTRATION_CLOSED');
    if (!isOfDomain(email)) fail('SVC_EMAIL_DOMAIN_NOT_ALLOWED');
  }

  const admits = async (tx: Tx, email: string): Promise<boolean> =>
    policy === 'OPEN' || (policy === 'INVITE' && ((await isInvited(tx, email)) || !(await hasFirstAccount(tx))));

  return {
    assertOpen,
    admits,
    async assertAdmitted(tx, email) {
      assertOpen(email);
      if (!(await admits(tx, email)))
        fail('SVC_REGISTRATION_CLOSED', {
          message: 'Accounts here are by invitation. Ask a member of a project for one.',
        });
    },
  };
}
