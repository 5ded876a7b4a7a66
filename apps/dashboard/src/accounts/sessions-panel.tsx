import type { AccountSession } from '@parley/contract';
import type { Api } from '@parley/server/call';
import { queryOptions, type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { untilTold } from '../data/queries.ts';
import { useApi, useServices } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { QueryView } from '../frame/query-view.tsx';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Ago, Time } from '../kit/time.tsx';
import { useToast } from '../kit/toast.tsx';

const sessionsKey = ['account-sessions'] as const;

export const sessionsQuery = (api: Api) =>
  queryOptions({
    queryKey: sessionsKey,
    queryFn: ({ signal }) => api.call('listSessions', {}, { signal }),
    refetchInterval: untilTold,
  });

/** Where the person is signed in, and a way to end it. */
export function SessionsPanel({ query }: { query: UseQueryResult<AccountSession[]> }) {
  const [ending, setEnding] = useState<AccountSession | 'all' | null>(null);
  const table = (rows: readonly AccountSession[] | undefined) => (
    <Table caption="Where you are signed in" columns={columns(setEnding)} rows={rows} keyOf={({ id }) => id} />
  );
  return (
    <section className="stack" aria-labelledby="sessions">
      <div className="section-head">
        <h2 id="sessions">Sessions</h2>
        <Button variant="danger" onClick={() => setEnding('all')}>
          Sign out everywhere
        </Button>
      </div>
      <QueryView query={query} skeleton={table(undefined)}>
        {table}
      </QueryView>
      {ending === 'all' && <EndAllDialog onClose={() => setEnding(null)} />}
      {ending !== null && ending !== 'all' && <EndDialog session={ending} onClose={() => setEnding(null)} />}
    </section>
  );
}

const columns = (onEnd: (session: AccountSession) => void): readonly Column<AccountSession>[] => [
  {
    head: 'Browser',
    cell: ({ device, userAgent, current }) => (
      <span className="row">
        {device === null ? <NoData /> : <strong title={userAgent ?? ''}>{device}</strong>}
        {current && <Badge tone="accent">This one</Badge>}
      </span>
    ),
  },
  { head: 'Place', cell: ({ place }) => (place === null ? <NoData /> : <span className="mono">{place}</span>) },
  { head: 'Signed in', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { head: 'Last seen', cell: ({ lastSeenAt }) => <Ago at={lastSeenAt} /> },
  {
    head: '',
    align: 'end',
    cell: (session) =>
      !session.current && (
        <Button variant="quiet" onClick={() => onEnd(session)}>
          Sign out
        </Button>
      ),
  },
];

function EndDialog({ session, onClose }: { session: AccountSession; onClose: () => void }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const end = useAction(() => api.call('endSession', { sessionId: session.id }), {
    onDone: async () => {
      await client.invalidateQueries({ queryKey: sessionsKey });
      toast('Signed out there');
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Sign out ${session.device ?? 'this session'}?`}
      action="Sign out"
      isBusy={end.isBusy}
      failure={end.failure}
      onConfirm={() => void end.run(undefined)}
      onClose={onClose}
    >
      <p>It has to sign in again.</p>
    </ConfirmDialog>
  );
}

function EndAllDialog({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const { session } = useServices();
  const end = useAction(async () => {
    await api.call('endAllSessions');
    await session.signOut();
  });
  return (
    <ConfirmDialog
      title="Sign out everywhere?"
      action="Sign out everywhere"
      isBusy={end.isBusy}
      failure={end.failure}
      onConfirm={() => void end.run(undefined)}
      onClose={onClose}
    >
      <p>Every browser is signed out, this one too. API keys keep working.</p>
    </ConfirmDialog>
  );
}
