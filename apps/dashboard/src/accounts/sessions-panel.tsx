import type { AccountSession } from '@parley/contract';
import type { Api } from '@parley/server/call';
import { queryOptions, type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { pollUnlessFed } from '../data/queries.ts';
import { useApi, useServices } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { List } from '../frame/list.tsx';
import { t } from '../i18n/t.ts';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { NoData } from '../kit/empty-state.tsx';
import type { Column } from '../kit/table.tsx';
import { Ago, Time } from '../kit/time.tsx';
import { useToast } from '../kit/toast.tsx';

const sessionsKey = ['account-sessions'] as const;

export const sessionsQuery = (api: Api) =>
  queryOptions({
    queryKey: sessionsKey,
    queryFn: ({ signal }) => api.call('listSessions', {}, { signal }),
    refetchInterval: pollUnlessFed,
  });

/** Where the person is signed in, and a way to end it. */
export function SessionsPanel({ query }: { query: UseQueryResult<AccountSession[]> }) {
  const [ending, setEnding] = useState<AccountSession | 'all' | null>(null);
  return (
    <section className="stack" aria-labelledby="sessions">
      <div className="section-head">
        <h2 id="sessions">{t('accounts.sessions')}</h2>
        <Button variant="danger" onClick={() => setEnding('all')}>
          {t('accounts.signOutEverywhere')}
        </Button>
      </div>
      <List query={query} caption={t('accounts.sessionsCaption')} columns={columns(setEnding)} keyOf={({ id }) => id} />
      {ending === 'all' && <EndAllDialog onClose={() => setEnding(null)} />}
      {ending !== null && ending !== 'all' && <EndDialog session={ending} onClose={() => setEnding(null)} />}
    </section>
  );
}

const columns = (onEnd: (session: AccountSession) => void): readonly Column<AccountSession>[] => [
  {
    head: t('accounts.browser'),
    cell: ({ device, userAgent, current }) => (
      <span className="row">
        {device === null ? <NoData /> : <strong title={userAgent ?? ''}>{device}</strong>}
        {current && <Badge tone="accent">{t('accounts.thisOne')}</Badge>}
      </span>
    ),
  },
  {
    head: t('accounts.place'),
    cell: ({ place }) => (place === null ? <NoData /> : <span className="mono">{place}</span>),
  },
  { head: t('accounts.signedIn'), cell: ({ createdAt }) => <Time at={createdAt} /> },
  { head: t('words.lastSeen'), cell: ({ lastSeenAt }) => <Ago at={lastSeenAt} /> },
  {
    head: '',
    align: 'end',
    cell: (session) =>
      !session.current && (
        <Button variant="quiet" onClick={() => onEnd(session)}>
          {t('frame.signOut')}
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
      toast(t('accounts.signedOutThere'));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={
        session.device === null ? t('accounts.signOutThis') : t('accounts.signOutDevice', { device: session.device })
      }
      action={t('frame.signOut')}
      isBusy={end.isBusy}
      failure={end.failure}
      onConfirm={() => void end.run(undefined)}
      onClose={onClose}
    >
      <p>{t('accounts.hasToSignIn')}</p>
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
      title={t('accounts.signOutEverywhereAsk')}
      action={t('accounts.signOutEverywhere')}
      isBusy={end.isBusy}
      failure={end.failure}
      onConfirm={() => void end.run(undefined)}
      onClose={onClose}
    >
      <p>{t('accounts.everyBrowser')}</p>
    </ConfirmDialog>
  );
}
