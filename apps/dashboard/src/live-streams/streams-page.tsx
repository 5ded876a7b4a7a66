import type { LiveStream, LiveStreamStatus } from '@parley/contract';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { FilterText } from '../frame/filter-text.tsx';
import { More } from '../frame/more.tsx';
import { Page } from '../frame/page.tsx';
import { askFor, type CurrentProject, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { useFilter } from '../frame/url.ts';
import { Button } from '../kit/button.tsx';
import { Snippet } from '../kit/copy.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { EmptyState, NoData } from '../kit/empty-state.tsx';
import { SelectField } from '../kit/field.tsx';
import { PlusIcon } from '../kit/icons.tsx';
import { useAnnounced } from '../kit/live.tsx';
import { count, plural } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { CreateStreamForm } from './create-stream.tsx';
import { streamKeys } from './queries.ts';
import { StreamState, visibilityWords } from './words.tsx';

const statuses: Readonly<Record<LiveStreamStatus, string>> = { CREATED: 'Created', LIVE: 'Live', ENDED: 'Ended' };
const isStatus = (text: string): text is LiveStreamStatus => text in statuses;

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
  const streams = query.data;
  const isFiltered = Object.keys(filter).length > 0;
  const isEmpty = streams?.length === 0 && !isFiltered;
  const live = streams?.filter((stream) => stream.status === 'LIVE').length;
  useAnnounced(live === undefined ? null : plural(live, 'live stream'));
  const mayCreate = may('live_stream:manage') && project.status === 'ACTIVE';
  const table = (rows: readonly LiveStream[] | undefined) => (
    <Table
      caption={`Live streams in ${environment.toLowerCase()}`}
      columns={columns(current)}
      rows={rows}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
    />
  );
  return (
    <Page
      title="Live streams"
      query={query}
      lead="One to many: hosts publish, viewers watch, everybody chats."
      actions={
        !isEmpty && (
          <Button
            variant="primary"
            icon={<PlusIcon />}
            disabled={!mayCreate}
            title={mayCreate ? undefined : askFor('live_stream:manage')}
            onClick={() => setCreating(true)}
          >
            New stream
          </Button>
        )
      }
    >
      {!isEmpty && (
        <div className="filters">
          <FilterText label="Title contains" value={title} onChange={setTitle} isFirst />
          <SelectField
            label="State"
            value={status}
            options={[
              { value: '', label: 'Any state' },
              ...Object.entries(statuses).map(([value, label]) => ({ value, label })),
            ]}
            onChange={(event) => setStatus(event.target.value)}
          />
        </div>
      )}
      <QueryView query={query} skeleton={table(undefined)}>
        {() =>
          isEmpty ? (
            <NoStreams mayCreate={mayCreate} />
          ) : streams?.length === 0 ? (
            <EmptyState
              title="No stream matches"
              action={
                <Button
                  onClick={() => {
                    setTitle('');
                    setStatus('');
                  }}
                >
                  Clear filters
                </Button>
              }
            />
          ) : (
            table(streams)
          )
        }
      </QueryView>
      <More query={query} />
      {isCreating && (
        <Dialog title={`New stream in ${environment.toLowerCase()}`} onClose={() => setCreating(false)}>
          <CreateStreamForm />
        </Dialog>
      )}
    </Page>
  );
}

function NoStreams({ mayCreate }: { mayCreate: boolean }) {
  const { environment } = useProject();
  const code = `curl -s -X POST ${location.origin}/v1/live-streams \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"title":"Launch day","hostIdentity":"ada"}'`;
  return (
    <EmptyState title={`No stream in ${environment.toLowerCase()} yet`}>
      <p>A stream brings its own room for the picture and its own conversation for the chat.</p>
      {mayCreate ? <CreateStreamForm /> : <p>{askFor('live_stream:manage')}</p>}
      <Snippet label="The same from your backend" code={code} />
    </EmptyState>
  );
}

function columns({ to }: CurrentProject): readonly Column<LiveStream>[] {
  return [
    {
      head: 'Title',
      width: '32%',
      cell: ({ id, title }) => (
        <Link className="row-link url" href={to(`live-streams/${id}`)}>
          {title}
        </Link>
      ),
    },
    { head: 'State', cell: (stream) => <StreamState stream={stream} /> },
    { head: 'Visibility', cell: ({ visibility }) => visibilityWords[visibility] },
    { head: 'Host', cell: ({ hostIdentity }) => <span className="mono">{hostIdentity}</span> },
    {
      head: 'Viewers',
      align: 'end',
      cell: ({ status, viewerCount, peakViewerCount }) =>
        status === 'ENDED' ? `peak ${count(peakViewerCount)}` : viewerCount === null ? <NoData /> : count(viewerCount),
    },
    {
      head: 'Scheduled',
      cell: ({ scheduledAt }) =>
        scheduledAt === null ? <span className="no-data">Not scheduled</span> : <Time at={scheduledAt} />,
    },
  ];
}
