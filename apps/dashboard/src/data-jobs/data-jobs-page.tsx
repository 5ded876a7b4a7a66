import type { DataJobKind, DataJobMetadata, DataJobState } from '@parley/contract';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { FilterSelect } from '../frame/filter-select.tsx';
import { ListPage } from '../frame/list-page.tsx';
import { useProject } from '../frame/project.tsx';
import { useFilter } from '../frame/url.ts';
import { environmentName } from '../i18n/names.ts';
import { Badge, type Tone } from '../kit/badge.tsx';
import { CopyId, Snippet } from '../kit/copy.tsx';
import { byteSize, count } from '../kit/numbers.ts';
import type { Column } from '../kit/table.tsx';
import { Ago, Time } from '../kit/time.tsx';
import { t, withNodes } from './texts.ts';

const kinds = {
  EXPORT: 'data-jobs.export',
  ERASURE: 'data-jobs.erasure',
  IMPORT: 'data-jobs.import',
} as const satisfies Record<DataJobKind, string>;
const isKind = (text: string): text is DataJobKind => Object.hasOwn(kinds, text);

export default function DataJobsPage() {
  const api = useApi();
  const { project, environment } = useProject();
  const [text, setKind] = useFilter('kind');
  const kind = isKind(text) ? text : undefined;
  const query = usePaged(['project', project.id, 'data-jobs', environment, kind ?? ''], (page, signal) =>
    api.request(
      'listProjectDataJobs',
      { projectId: project.id, query: { environment, ...page, ...(kind ? { kind } : {}) } },
      { signal },
    ),
  );
  return (
    <ListPage
      title={t('page.data-jobs')}
      lead={t('data-jobs.lead')}
      query={query}
      caption={t('data-jobs.caption', { environment: environmentName(environment) })}
      columns={columns()}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
      filters={
        <FilterSelect
          label={t('data-jobs.kind')}
          any={t('data-jobs.anyKind')}
          value={kind ?? ''}
          options={Object.entries(kinds).map(([value, label]) => [value, t(label)])}
          onChange={setKind}
        />
      }
      onClear={kind ? () => setKind('') : undefined}
      empty={{
        title: t('data-jobs.none', { environment: environmentName(environment) }),
        noMatch: t('data-jobs.noMatch'),
        children: <HowTo />,
      }}
    />
  );
}

function HowTo() {
  const exporting = `curl -s -X POST ${location.origin}/v1/users/ada/export -H "Authorization: Bearer $SVC_API_KEY"`;
  const erasing = `curl -s -X POST ${location.origin}/v1/users/ada/erase \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"messages":"delete"}'`;
  return (
    <>
      <p>{t('data-jobs.backendAsks')}</p>
      <Snippet label={t('data-jobs.exportOne')} code={exporting} />
      <Snippet label={t('data-jobs.eraseOne')} code={erasing} />
    </>
  );
}

const columns = (): readonly Column<DataJobMetadata>[] => [
  { head: t('data-jobs.kind'), cell: ({ kind }) => <strong>{t(kinds[kind])}</strong> },
  { head: t('words.state'), cell: (job) => <State job={job} /> },
  { head: t('words.user'), cell: (job) => <Whose job={job} /> },
  { head: t('data-jobs.records'), align: 'end', cell: ({ progress }) => count(progress) },
  { head: t('data-jobs.file'), cell: (job) => <File job={job} /> },
  { head: t('words.created'), cell: ({ createdAt }) => <Ago at={createdAt} /> },
  {
    head: t('data-jobs.finished'),
    cell: ({ finishedAt }) =>
      finishedAt === null ? <span className="no-data">{t('data-jobs.notYet')}</span> : <Ago at={finishedAt} />,
  },
  { head: t('data-jobs.job'), cell: ({ id }) => <CopyId id={id} label={t('data-jobs.copyJobId')} /> },
];

const states = {
  WAITING: ['data-jobs.waiting', 'warn', 'ring'],
  QUEUED: ['data-jobs.queued', 'plain', 'ring'],
  RUNNING: ['data-jobs.running', 'accent', 'dot'],
  DONE: ['data-jobs.done', 'ok', 'square'],
  FAILED: ['words.failed', 'bad', 'square'],
} as const satisfies Record<DataJobState, readonly [string, Tone, string]>;

function State({ job: { state, error } }: { job: DataJobMetadata }) {
  const [word, tone, shape] = states[state];
  return (
    <span className="two-lines">
      <span>
        <Badge tone={tone} shape={shape}>
          {t(word)}
        </Badge>
      </span>
      {error !== null && <span className="muted wrap">{error}</span>}
    </span>
  );
}

function Whose({ job: { kind, userId } }: { job: DataJobMetadata }) {
  if (userId !== null) return <span className="mono">{userId}</span>;
  return <span className="no-data">{t(kind === 'IMPORT' ? 'data-jobs.noUser' : 'data-jobs.nobody')}</span>;
}

function File({ job: { size, expiresAt } }: { job: DataJobMetadata }) {
  if (size === null || expiresAt === null) return <span className="no-data">{t('data-jobs.noFile')}</span>;
  return <span>{withNodes('data-jobs.fileUntil', { size: byteSize(size), time: <Time at={expiresAt} /> })}</span>;
}
