import type { Alert, AlertChange } from '@parley/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { usePaged } from '../data/use-paged.ts';
import { More } from '../frame/more.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { Button } from '../kit/button.tsx';
import { CopyId } from '../kit/copy.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { EmptyState, NoData } from '../kit/empty-state.tsx';
import { Facts } from '../kit/facts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Ago, Time } from '../kit/time.tsx';
import { useToast } from '../kit/toast.tsx';
import { AlertDialog } from './alert-dialog.tsx';
import { alertKeys, alertQuery } from './queries.ts';
import { Silence } from './silence.tsx';
import { t, withNodes } from './texts.ts';
import { AlertBadge, conditionWords, Found, toldWords } from './words.tsx';

export default function AlertPage() {
  const { alertId = '' } = useParams<{ alertId: string }>();
  const { project, environment, may } = useProject();
  const query = useQuery(alertQuery(useApi(), project.id, environment, alertId));
  const [dialog, setDialog] = useState<'edit' | 'delete' | null>(null);
  const alert = query.data;
  return (
    <Page
      title={alert?.name ?? t('alerts.alert')}
      query={query}
      aside={alert && <AlertBadge state={alert.state} />}
      actions={
        alert && (
          <>
            <Silence alert={alert} />
            {may('alert:manage') && (
              <>
                <Button onClick={() => setDialog('edit')}>{t('alerts.change')}</Button>
                <Button variant="danger" onClick={() => setDialog('delete')}>
                  {t('alerts.delete')}
                </Button>
              </>
            )}
          </>
        )
      }
    >
      <QueryView query={query}>{(found) => <AlertBody alert={found} />}</QueryView>
      {alert && dialog === 'edit' && <AlertDialog alert={alert} onClose={() => setDialog(null)} />}
      {alert && dialog === 'delete' && <DeleteAlert alert={alert} onClose={() => setDialog(null)} />}
    </Page>
  );
}

function AlertBody({ alert }: { alert: Alert }) {
  const api = useApi();
  const { project, environment } = useProject();
  const history = usePaged(alertKeys.history(project.id, alert.id), (page, signal) =>
    api.request(
      'listProjectAlertHistory',
      { projectId: project.id, alertId: alert.id, query: { environment, ...page } },
      { signal },
    ),
  );
  const table = (rows: readonly AlertChange[] | undefined) => (
    <Table caption={t('alerts.changes')} columns={columns(alert)} rows={rows} keyOf={({ id }) => id} />
  );
  return (
    <>
      <section className="panel" aria-label={t('alerts.about')}>
        <Facts
          rows={[
            [t('alerts.waitsFor'), conditionWords(alert)],
            [t('alerts.foundLast'), <Found key="f" alert={alert} />],
            [t('alerts.inStateSince'), <Time key="s" at={alert.since} />],
            ...(alert.silencedUntil === null
              ? []
              : [[t('alerts.silencedUntil'), <Time key="u" at={alert.silencedUntil} />] as const]),
            [
              t('alerts.tells'),
              alert.emails.length === 0
                ? toldWords(alert)
                : t('alerts.toldTo', { who: toldWords(alert), emails: alert.emails.join(', ') }),
            ],
            [
              t('alerts.lookedAt'),
              alert.evaluatedAt === null ? <NoData key="e" /> : <Ago key="e" at={alert.evaluatedAt} />,
            ],
            [t('words.id'), <CopyId key="i" id={alert.id} />],
          ]}
        />
      </section>
      <section className="stack-small" aria-labelledby="history">
        <h2 id="history">{t('alerts.history')}</h2>
        <QueryView query={history} skeleton={table(undefined)}>
          {(rows) =>
            rows.length === 0 ? (
              <EmptyState title={t('alerts.nothingYet')}>
                <p>{t('alerts.beginsAndEnds')}</p>
              </EmptyState>
            ) : (
              table(rows)
            )
          }
        </QueryView>
        <More query={history} />
      </section>
    </>
  );
}

const columns = (alert: Alert): readonly Column<AlertChange>[] => [
  { head: t('alerts.at'), cell: ({ at }) => <Time at={at} /> },
  { head: t('words.state'), cell: ({ state }) => <AlertBadge state={state} /> },
  { head: t('alerts.found'), cell: ({ value, detail }) => <Found alert={{ ...alert, value, detail }} /> },
  { head: t('alerts.notified'), cell: ({ notified }) => t(notified ? 'alerts.yes' : 'alerts.no') },
];

function DeleteAlert({ alert, onClose }: { alert: Alert; onClose: () => void }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const [, navigate] = useLocation();
  const { project, environment, to } = useProject();
  const remove = useAction(
    () => api.call('deleteProjectAlert', { projectId: project.id, alertId: alert.id, query: { environment } }),
    {
      onDone: async () => {
        toast(t('alerts.deleted'));
        navigate(to('alerts'));
        client.removeQueries({ queryKey: alertKeys.one(project.id, alert.id) });
        await client.invalidateQueries({ queryKey: alertKeys.all(project.id) });
      },
    },
  );
  return (
    <ConfirmDialog
      title={t('alerts.deleteAsk')}
      action={t('alerts.deleteAlert')}
      isBusy={remove.isBusy}
      failure={remove.failure}
      onConfirm={() => void remove.run(undefined)}
      onClose={onClose}
    >
      <p>{withNodes('alerts.deleteExplained', { name: <strong>{alert.name}</strong> })}</p>
    </ConfirmDialog>
  );
}
