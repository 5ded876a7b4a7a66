import type { Call } from '@parley/contract';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { FilterText } from '../frame/filter-text.tsx';
import { More } from '../frame/more.tsx';
import { Page } from '../frame/page.tsx';
import { type CurrentProject, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { useFilter } from '../frame/url.ts';
import { EmptyState } from '../kit/empty-state.tsx';
import { SelectField } from '../kit/field.tsx';
import { span } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { Score } from './words.tsx';

export default function CallsPage() {
  const api = useApi();
  const current = useProject();
  const { project, environment } = current;
  const [order, setOrder] = useFilter('sort');
  const [roomId, setRoomId] = useFilter('room');
  const sort = order === 'worst' ? 'worst' : 'newest';
  const filter = { sort, ...(roomId === '' ? {} : { roomId }) } as const;
  const query = usePaged(['project', project.id, 'calls', environment, filter], (page, signal) =>
    api.request('listProjectCalls', { projectId: project.id, query: { environment, ...filter, ...page } }, { signal }),
  );
  const table = (rows: readonly Call[] | undefined) => (
    <Table
      caption={`Calls of the last 7 days in ${environment.toLowerCase()}, ${sort} first`}
      columns={columns(current)}
      rows={rows}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
    />
  );
  return (
    <Page title="Calls" query={query} lead="How calls of the last 7 days sounded and looked, and why.">
      <div className="filters">
        <SelectField
          label="Order"
          value={sort}
          options={[
            { value: 'newest', label: 'Newest first' },
            { value: 'worst', label: 'Worst first' },
          ]}
          onChange={(event) => setOrder(event.target.value === 'worst' ? 'worst' : '')}
        />
        <FilterText label="Room id" value={roomId} onChange={setRoomId} isFirst />
      </div>
      <QueryView query={query} skeleton={table(undefined)}>
        {(calls) =>
          calls.length === 0 ? (
            <EmptyState title={roomId === '' ? 'No call was measured in the last 7 days' : 'No calls match'}>
              <p>A call appears here about 20 seconds after somebody who uses the SDK publishes a track.</p>
            </EmptyState>
          ) : (
            table(calls)
          )
        }
      </QueryView>
      <More query={query} />
    </Page>
  );
}

function columns({ to }: CurrentProject): readonly Column<Call>[] {
  return [
    {
      head: 'Started',
      cell: ({ id, startedAt }) => (
        <Link className="row-link" href={to(`calls/${id}`)}>
          <Time at={startedAt} />
        </Link>
      ),
    },
    {
      head: 'Room',
      cell: ({ roomId, roomName }) => <Link href={to(`rooms/${roomId}`)}>{roomName ?? roomId}</Link>,
    },
    { head: 'Length', cell: ({ startedAt, lastSampleAt }) => span(Date.parse(lastSampleAt) - Date.parse(startedAt)) },
    { head: 'Participants', align: 'end', cell: ({ participantCount }) => participantCount },
    { head: 'Score', cell: ({ score }) => <Score score={score} /> },
    { head: 'Worst of a participant', cell: ({ worstScore }) => <Score score={worstScore} /> },
  ];
}
