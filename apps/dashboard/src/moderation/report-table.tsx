import type { ReportMetadata, ReportStatus } from '@parley/contract';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { List } from '../frame/list.tsx';
import { askFor, type CurrentProject, useProject } from '../frame/project.tsx';
import { useFilter } from '../frame/url.ts';
import { environmentName } from '../i18n/names.ts';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { CopyId } from '../kit/copy.tsx';
import { SelectField } from '../kit/field.tsx';
import type { Column } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { moderationKeys } from './queries.ts';
import { ResolveDialog } from './resolve-dialog.tsx';
import { t } from './texts.ts';
import { outcomeWord, reasonWord, Sender } from './words.tsx';

/** What was reported, by whom and why; never what was written. */
export function ReportTable() {
  const api = useApi();
  const current = useProject();
  const { project, environment } = current;
  const [text, setStatus] = useFilter('status');
  const status: ReportStatus = text === 'resolved' ? 'RESOLVED' : 'OPEN';
  const [resolving, setResolving] = useState<ReportMetadata | null>(null);
  const query = usePaged(moderationKeys.reports(project.id, environment, status), (page, signal) =>
    api.request('listProjectReports', { projectId: project.id, query: { environment, status, ...page } }, { signal }),
  );
  const isOpen = status === 'OPEN';
  return (
    <>
      <div className="filters">
        <SelectField
          label={t('words.status')}
          value={isOpen ? '' : 'resolved'}
          options={[
            { value: '', label: t('moderation.open') },
            { value: 'resolved', label: t('moderation.resolved') },
          ]}
          data-filter=""
          onChange={(event) => setStatus(event.target.value)}
        />
      </div>
      <List
        query={query}
        caption={t('moderation.reportsCaption', { environment: environmentName(environment) })}
        columns={columns(current, isOpen ? setResolving : null)}
        keyOf={({ id }) => id}
        copyOf={({ messageId }) => messageId}
        empty={{
          title: t(isOpen ? 'moderation.noReport' : 'moderation.noResolved'),
          children: isOpen && <p>{t('moderation.howReported')}</p>,
        }}
      />
      {resolving && <ResolveDialog report={resolving} onClose={() => setResolving(null)} />}
    </>
  );
}

function columns(
  { to, may }: CurrentProject,
  onResolve: ((report: ReportMetadata) => void) | null,
): readonly Column<ReportMetadata>[] {
  return [
    { head: t('moderation.reported'), cell: ({ createdAt }) => <Ago at={createdAt} /> },
    { head: t('moderation.sentBy'), cell: ({ senderId }) => <Sender id={senderId} /> },
    {
      head: t('moderation.reportedBy'),
      cell: ({ reporterId }) =>
        reporterId === null ? t('moderation.wordList') : <span className="mono">{reporterId}</span>,
    },
    { head: t('moderation.reason'), cell: reasonWord },
    {
      head: t('moderation.messageIn'),
      cell: ({ messageId, conversationId }) => (
        <span className="two-lines">
          <Link className="mono" href={to(`chat/${conversationId}`)}>
            {conversationId}
          </Link>
          <CopyId id={messageId} label={t('chat.copyMessageId')} />
        </span>
      ),
    },
    onResolve === null
      ? {
          head: t('moderation.outcome'),
          cell: (report) => (
            <span className="row">
              <Badge shape="square">{outcomeWord(report)}</Badge>
              {report.resolvedAt !== null && <Ago at={report.resolvedAt} />}
            </span>
          ),
        }
      : {
          head: '',
          align: 'end',
          cell: (report) => (
            <Button
              disabled={!may('chat:manage')}
              title={may('chat:manage') ? undefined : askFor('chat:manage')}
              aria-label={t('moderation.resolveOf', { user: report.senderId ?? t('moderation.byServer') })}
              onClick={() => onResolve(report)}
            >
              {t('moderation.resolve')}
            </Button>
          ),
        },
  ];
}
