import type { SecurityAction, SecurityEntry } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { untilTold } from '../data/queries.ts';
import { useApi } from '../data/services.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';

const words: Readonly<Record<SecurityAction, string>> = {
  'account.signed_in': 'Signed in',
  'account.sign_in_failed': 'A sign-in failed',
  'account.password_reset_requested': 'A link to set a new password was mailed',
  'account.password_reset': 'The password was set through a mailed link',
  'account.password_changed': 'The password was changed',
  'account.password_change_failed': 'A change of the password failed',
  'account.signed_out': 'Signed out',
  'account.session_ended': 'A session was ended from another one',
  'account.sessions_ended': 'Signed out everywhere',
  'account.refresh_token_reused': 'A session was ended: its cookie was used twice and may have been stolen',
  'account.second_factor_failed': 'A second factor was wrong',
  'account.factor_added': 'A second factor was added',
  'account.factor_removed': 'A second factor was removed',
  'account.recovery_codes_renewed': 'New recovery codes were made',
  'account.failures_muted': 'There were more failures in this hour',
};

const columns: readonly Column<SecurityEntry>[] = [
  { head: 'Time', width: '20%', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    head: 'What happened',
    // An entry may be newer than this page.
    cell: ({ action }) => (words as Readonly<Record<string, string>>)[action] ?? action,
  },
  { head: 'Browser', cell: ({ device }) => device ?? <NoData /> },
  { head: 'Place', cell: ({ place }) => (place === null ? <NoData /> : <span className="mono">{place}</span>) },
];

/** What happened to the account of the person, newest first. */
export function SecurityPanel() {
  const api = useApi();
  const query = useQuery({
    queryKey: ['security-log'],
    queryFn: ({ signal }) => api.call('listSecurityLog', {}, { signal }),
    refetchInterval: untilTold,
  });
  const table = (rows: readonly SecurityEntry[] | undefined) => (
    <Table caption="What happened to your account, newest first" columns={columns} rows={rows} keyOf={({ id }) => id} />
  );
  return (
    <section className="stack" aria-labelledby="security-log">
      <h2 id="security-log">Security log</h2>
      <QueryView query={query} skeleton={table(undefined)}>
        {table}
      </QueryView>
    </section>
  );
}
