import type { AuditEntry } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { untilTold } from '../data/queries.ts';
import { useApi, useServices } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { FilterText } from '../frame/filter-text.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { useFilter } from '../frame/url.ts';
import { Button } from '../kit/button.tsx';
import { CopyId } from '../kit/copy.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { EmptyState } from '../kit/empty-state.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { SelectField } from '../kit/field.tsx';
import { RequestId } from '../kit/request-id.tsx';
import { type Column, Table } from '../kit/table.tsx';
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
    refetchInterval: untilTold,
  });
  const { session } = useServices();
  const download = useAction(async () =>
    exportAuditLog({ projectId: project.id, filters: given, accessToken: await session.token() }),
  );
  const clear = (): void => {
    setAction('');
    setActorId('');
    setResourceId('');
  };

  const table = (rows: readonly AuditEntry[] | undefined) => (
    <Table
      caption="Audit log, newest first"
      columns={columns(setOpen)}
      rows={rows}
      keyOf={({ id }) => id}
      copyOf={({ requestId }) => requestId}
    />
  );
  return (
    <Page
      title="Audit log"
      query={query}
      lead="Who changed what in this project. Values and secrets are never recorded, and entries cannot be changed."
      actions={
        <Button isBusy={download.isBusy} onClick={() => void download.run(undefined)}>
          Export last 30 days
        </Button>
      }
    >
      {download.failure && <ErrorNotice failure={download.failure} />}
      <div className="filters">
        <SelectField
          label="Action"
          value={action}
          options={[
            { value: '', label: 'Any action' },
            ...Object.keys(auditSentences).map((name) => ({ value: name, label: name })),
          ]}
          onChange={(event) => setAction(event.target.value)}
        />
        <FilterText label="Actor id" value={actorId} onChange={setActorId} isFirst />
        <FilterText label="Resource id" value={resourceId} onChange={setResourceId} />
        <SelectField
          label="Show"
          value={String(count)}
          options={limits.map((value) => ({ value, label: `Newest ${value}` }))}
          onChange={(event) => setLimit(event.target.value === limitDefault ? '' : event.target.value)}
        />
      </div>
      <QueryView query={query} skeleton={table(undefined)}>
        {(entries) =>
          entries.length === 0 ? (
            <EmptyState
              title={Object.keys(given).length > 0 ? 'No entry matches' : 'Nothing has been recorded yet'}
              action={Object.keys(given).length > 0 && <Button onClick={clear}>Clear filters</Button>}
            />
          ) : (
            <>
              {table(entries)}
              {entries.length === count && (
                <p className="muted">Newest {count}. Narrow the filters to see older entries.</p>
              )}
            </>
          )
        }
      </QueryView>
      {open && <EntryDrawer entry={open} onClose={() => setOpen(null)} />}
    </Page>
  );
}

function columns(onOpen: (entry: AuditEntry) => void): readonly Column<AuditEntry>[] {
  return [
    { head: 'Time', width: '20%', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      head: 'What happened',
      cell: (entry) => (
        <button type="button" className="row-link" onClick={() => onOpen(entry)}>
          {entry.actorEmail} {sentenceOf(entry)}
        </button>
      ),
    },
    {
      head: 'Environment',
      width: '14%',
      cell: ({ environment }) =>
        environment === null ? <span className="no-data">Whole project</span> : environment.toLowerCase(),
    },
    { head: 'Request', cell: ({ requestId }) => <RequestId id={requestId} /> },
  ];
}

function EntryDrawer({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const facts = [
    [
      'Action',
      <span key="a" className="mono">
        {entry.action}
      </span>,
    ],
    ['Time', <Time key="t" at={entry.createdAt} />],
    ['Actor', entry.actorEmail],
    ['Actor id', <CopyId key="i" id={entry.actorId} />],
    ['Resource', <CopyId key="r" id={entry.resourceId} />],
    ['Request', <RequestId key="q" id={entry.requestId} />],
    [
      'Address',
      <span key="p" className="mono">
        {entry.ipAddress}
      </span>,
    ],
    ['User agent', entry.userAgent ?? <span className="no-data">Not sent</span>],
  ] as const;
  return (
    <Dialog title="Audit entry" isDrawer onClose={onClose}>
      <dl className="facts">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h3>Metadata</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it. */}
      <pre className="raw" tabIndex={0}>
        {JSON.stringify(entry.metadata, null, 2)}
      </pre>
    </Dialog>
  );
}
