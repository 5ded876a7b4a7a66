import type { AuditEntry } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { pollUnlessFed } from '../data/queries.ts';
import { useApi, useServices } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { FilterSelect } from '../frame/filter-select.tsx';
import { FilterText } from '../frame/filter-text.tsx';
import { ListPage } from '../frame/list-page.tsx';
import { useProject } from '../frame/project.tsx';
import { clearing, useFilter } from '../frame/url.ts';
import { environmentName } from '../i18n/names.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { CopyId } from '../kit/copy.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { SelectField } from '../kit/field.tsx';
import { RequestId } from '../kit/request-id.tsx';
import type { Column } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { exportAuditLog } from './export.ts';
import { auditSentences, sentenceOf } from './sentences.ts';

const limits = ['50', '100', '200'];
const limitDefault = '50';

export default function AuditPage() {
  const api = useApi();
  const { project } = useProject();
  const [action, setAction] = useFilter('action');
  const [actorId, setActorId] = useFilter('actor');
  const [resourceId, setResourceId] = useFilter('resource');
  const [limit, setLimit] = useFilter('limit');
  const [open, setOpen] = useState<AuditEntry | null>(null);
  const filters = { action, actorId, resourceId };
  const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''));
  const count = Number(limits.includes(limit) ? limit : limitDefault);
  const query = useQuery({
    queryKey: ['project', project.id, 'audit', filters, count],
    queryFn: ({ signal }) =>
      api.call('listAuditLogs', { projectId: project.id, query: { ...given, limit: count } }, { signal }),
    refetchInterval: pollUnlessFed,
  });
  const { session } = useServices();
  const download = useAction(async () =>
    exportAuditLog({ projectId: project.id, filters: given, accessToken: await session.token() }),
  );
  return (
    <ListPage
      title={t('page.audit-log')}
      query={query}
      lead={t('audit.lead')}
      actions={
        <Button isBusy={download.isBusy} onClick={() => void download.run(undefined)}>
          {t('audit.export')}
        </Button>
      }
      above={download.failure && <ErrorNotice failure={download.failure} />}
      caption={t('audit.caption')}
      columns={columns(setOpen)}
      keyOf={({ id }) => id}
      copyOf={({ requestId }) => requestId}
      filters={
        <>
          <FilterSelect
            label={t('audit.action')}
            any={t('audit.anyAction')}
            value={action}
            options={Object.keys(auditSentences).map((name) => [name, name])}
            onChange={setAction}
          />
          <FilterText label={t('audit.actorId')} value={actorId} onChange={setActorId} isFirst />
          <FilterText label={t('audit.resourceId')} value={resourceId} onChange={setResourceId} />
          <SelectField
            label={t('kit.show')}
            value={String(count)}
            options={limits.map((value) => ({ value, label: t('audit.newest', { value }) }))}
            onChange={(event) => setLimit(event.target.value === limitDefault ? '' : event.target.value)}
          />
        </>
      }
      onClear={clearing(given, setAction, setActorId, setResourceId)}
      empty={{ title: t('audit.none'), noMatch: t('audit.noMatch') }}
      foot={(rows) => rows.length === count && <p className="muted">{t('audit.narrow', { number: count })}</p>}
    >
      {open && <EntryDrawer entry={open} onClose={() => setOpen(null)} />}
    </ListPage>
  );
}

function columns(onOpen: (entry: AuditEntry) => void): readonly Column<AuditEntry>[] {
  return [
    { head: t('kit.time'), width: '20%', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      head: t('audit.whatHappened'),
      cell: (entry) => (
        <button type="button" className="row-link" onClick={() => onOpen(entry)}>
          {entry.actorEmail} {sentenceOf(entry)}
        </button>
      ),
    },
    {
      head: t('frame.environment'),
      width: '14%',
      cell: ({ environment }) =>
        environment === null ? (
          <span className="no-data">{t('audit.wholeProject')}</span>
        ) : (
          environmentName(environment)
        ),
    },
    { head: t('words.request'), cell: ({ requestId }) => <RequestId id={requestId} /> },
  ];
}

function EntryDrawer({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const facts = [
    [
      t('audit.action'),
      <span key="a" className="mono">
        {entry.action}
      </span>,
    ],
    [t('kit.time'), <Time key="t" at={entry.createdAt} />],
    [t('audit.actor'), entry.actorEmail],
    [t('audit.actorId'), <CopyId key="i" id={entry.actorId} />],
    [t('audit.resource'), <CopyId key="r" id={entry.resourceId} />],
    [t('words.request'), <RequestId key="q" id={entry.requestId} />],
    [
      t('words.address'),
      <span key="p" className="mono">
        {entry.ipAddress}
      </span>,
    ],
    [t('words.userAgent'), entry.userAgent ?? <span className="no-data">{t('audit.notSent')}</span>],
  ] as const;
  return (
    <Dialog title={t('audit.entry')} isDrawer onClose={onClose}>
      <dl className="facts">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h3>{t('words.metadata')}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it. */}
      <pre className="raw" tabIndex={0}>
        {JSON.stringify(entry.metadata, null, 2)}
      </pre>
    </Dialog>
  );
}
