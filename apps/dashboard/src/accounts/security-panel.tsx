import type { SecurityAction, SecurityEntry } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { pollUnlessFed } from '../data/queries.ts';
import { useApi } from '../data/services.tsx';
import { List } from '../frame/list.tsx';
import type { PlainKey } from '../i18n/catalogue.ts';
import { t } from '../i18n/t.ts';
import { NoData } from '../kit/empty-state.tsx';
import type { Column } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';

const words: Readonly<Record<SecurityAction, PlainKey>> = {
  'account.signed_in': 'accounts.didSignIn',
  'account.sign_in_failed': 'accounts.signInFailed',
  'account.password_reset_requested': 'accounts.resetMailed',
  'account.password_reset': 'accounts.passwordReset',
  'account.password_changed': 'accounts.didChangePassword',
  'account.password_change_failed': 'accounts.changeFailed',
  'account.signed_out': 'accounts.signedOut',
  'account.session_ended': 'accounts.sessionEnded',
  'account.sessions_ended': 'accounts.signedOutEverywhere',
  'account.refresh_token_reused': 'accounts.cookieReused',
  'account.second_factor_failed': 'accounts.factorWrong',
  'account.factor_added': 'accounts.factorAdded',
  'account.factor_removed': 'accounts.factorRemoved',
  'account.recovery_codes_renewed': 'accounts.codesRenewed',
  'account.failures_muted': 'accounts.failuresMuted',
};

/** An entry may be newer than this page. */
function wordsOf(action: string): string {
  const key = (words as Readonly<Record<string, PlainKey>>)[action];
  return key ? t(key) : action;
}

const columns = (): readonly Column<SecurityEntry>[] => [
  { head: t('kit.time'), width: '20%', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { head: t('audit.whatHappened'), cell: ({ action }) => wordsOf(action) },
  { head: t('accounts.browser'), cell: ({ device }) => device ?? <NoData /> },
  {
    head: t('accounts.place'),
    cell: ({ place }) => (place === null ? <NoData /> : <span className="mono">{place}</span>),
  },
];

/** What happened to the account of the person, newest first. */
export function SecurityPanel() {
  const api = useApi();
  const query = useQuery({
    queryKey: ['security-log'],
    queryFn: ({ signal }) => api.call('listSecurityLog', {}, { signal }),
    refetchInterval: pollUnlessFed,
  });
  return (
    <section className="stack" aria-labelledby="security-log">
      <h2 id="security-log">{t('accounts.securityLog')}</h2>
      <List query={query} caption={t('accounts.securityCaption')} columns={columns()} keyOf={({ id }) => id} />
    </section>
  );
}
