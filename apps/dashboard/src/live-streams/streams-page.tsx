import type { LiveStream, LiveStreamStatus } from '@parley/contract';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { FilterSelect } from '../frame/filter-select.tsx';
import { FilterText } from '../frame/filter-text.tsx';
import { ListPage } from '../frame/list-page.tsx';
import { askFor, type CurrentProject, useProject } from '../frame/project.tsx';
import { clearing, useFilter } from '../frame/url.ts';
import { environmentName } from '../i18n/names.ts';
import { t } from '../i18n/t.ts';
import { Snippet } from '../kit/copy.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { useAnnounced } from '../kit/live.tsx';
import { count } from '../kit/numbers.ts';
import type { Column } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { CreateStreamForm } from './create-stream.tsx';
import { streamKeys } from './queries.ts';
import { StreamState, stateOptions, visibilityWord } from './words.tsx';

const statuses: readonly string[] = ['CREATED', 'LIVE', 'ENDED'] satisfies LiveStreamStatus[];
const isStatus = (text: string): text is LiveStreamStatus => statuses.includes(text);

export default function StreamsPage() {
  const api = useApi();
  const current = useProject();
  const { project, environment, may } = current;
  const [title, setTitle] = useFilter('title');
  const [status, setStatus] = useFilter('status');
  const [isCreating, setCreating] = useState(false);
  const filter = { ...(title === '' ? {} : { title }), ...(isStatus(status) ? { status } : {}) };
  const query = usePaged(streamKeys.list(project.id, environment, filter), (page, signal) => {
    const asked = { environment, ...page, ...filter };
    return api.request('listProjectLiveStreams', { projectId: project.id, query: asked }, { signal });
  });
  const live = query.data?.filter((stream) => stream.status === 'LIVE').length;
  useAnnounced(live === undefined ? null : t('live-streams.live', { count: live }));
  const mayCreate = may('live_stream:manage') && project.status === 'ACTIVE';
  return (
    <ListPage
      title={t('page.live-streams')}
      query={query}
      lead={t('live-streams.lead')}
      create={{
        label: t('live-streams.new'),
        isAllowed: mayCreate,
        permission: 'live_stream:manage',
        onClick: () => setCreating(true),
        hasForm: true,
      }}
      caption={t('live-streams.caption', { environment: environmentName(environment) })}
      columns={columns(current)}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
      filters={
        <>
          <FilterText label={t('live-streams.titleContains')} value={title} onChange={setTitle} isFirst />
          <FilterSelect
            label={t('words.state')}
            any={t('words.anyState')}
            value={status}
            options={stateOptions()}
            onChange={setStatus}
          />
        </>
      }
      onClear={clearing(filter, setTitle, setStatus)}
      empty={{
        title: t('live-streams.none', { environment: environmentName(environment) }),
        noMatch: t('live-streams.noMatch'),
        children: <FirstStream mayCreate={mayCreate} />,
      }}
    >
      {isCreating && (
        <Dialog
          title={t('live-streams.newIn', { environment: environmentName(environment) })}
          onClose={() => setCreating(false)}
        >
          <CreateStreamForm />
        </Dialog>
      )}
    </ListPage>
  );
}

function FirstStream({ mayCreate }: { mayCreate: boolean }) {
  const code = `curl -s -X POST ${location.origin}/v1/live-streams \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"title":"Launch day","hostIdentity":"ada"}'`;
  return (
    <>
      <p>{t('live-streams.brings')}</p>
      {mayCreate ? <CreateStreamForm /> : <p>{askFor('live_stream:manage')}</p>}
      <Snippet label={t('live-streams.sameFromBackend')} code={code} />
    </>
  );
}

function columns({ to }: CurrentProject): readonly Column<LiveStream>[] {
  return [
    {
      head: t('words.title'),
      width: '32%',
      cell: ({ id, title }) => (
        <Link className="row-link url" href={to(`live-streams/${id}`)}>
          {title}
        </Link>
      ),
    },
    { head: t('words.state'), cell: (stream) => <StreamState stream={stream} /> },
    { head: t('live-streams.visibility'), cell: ({ visibility }) => visibilityWord(visibility) },
    { head: t('live-streams.host'), cell: ({ hostIdentity }) => <span className="mono">{hostIdentity}</span> },
    {
      head: t('live-streams.viewers'),
      align: 'end',
      cell: ({ status, viewerCount, peakViewerCount }) =>
        status === 'ENDED' ? (
          t('live-streams.peak', { number: peakViewerCount })
        ) : viewerCount === null ? (
          <NoData />
        ) : (
          count(viewerCount)
        ),
    },
    {
      head: t('live-streams.scheduled'),
      cell: ({ scheduledAt }) =>
        scheduledAt === null ? (
          <span className="no-data">{t('live-streams.notScheduled')}</span>
        ) : (
          <Time at={scheduledAt} />
        ),
    },
  ];
}
