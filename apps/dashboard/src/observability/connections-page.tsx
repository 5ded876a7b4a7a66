import type { Connection } from '@parley/contract';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { FilterText } from '../frame/filter-text.tsx';
import { More } from '../frame/more.tsx';
import { Page } from '../frame/page.tsx';
import { type CurrentProject, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { useFilter } from '../frame/url.ts';
import { Button } from '../kit/button.tsx';
import { EmptyState, NoData } from '../kit/empty-state.tsx';
import { SelectField } from '../kit/field.tsx';
import { span } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { Outcomes } from './outcomes.tsx';
import { ConnectionBadge, isState, stateWords } from './words.tsx';

export default function ConnectionsPage() {
  const api = useApi();
  const current = useProject();
  const { project, environment } = current;
  const [state, setState] = useFilter('state');
  const [roomId, setRoomId] = useFilter('room');
  const filter = { ...(isState(state) ? { state } : {}), ...(roomId === '' ? {} : { roomId }) };
  const query = usePaged(['project', project.id, 'connections', environment, filter], (page, signal) =>
    api.request(
      'listProjectConnections',
      { projectId: project.id, query: { environment, ...filter, ...page } },
      { signal },
    ),
  );
  const isFiltered = Object.keys(filter).length > 0;
  const table = (rows: readonly Connection[] | undefined) => (
    <Table
      caption={`Connections in ${environment.toLowerCase()}, newest first`}
      columns={columns(current)}
      rows={rows}
      keyOf={({ id }) => id}
      copyOf={({ connectionId }) => connectionId}
    />
  );
  return (
    <Page title="Connections" query={query} lead="Every attempt of a client to join a room, and how it went.">
      <div className="filters">
        <SelectField
          label="State"
          value={state}
          options={[
            { value: '', label: 'Any state' },
            ...Object.entries(stateWords).map(([value, [label]]) => ({ value, label })),
          ]}
          onChange={(event) => setState(event.target.value)}
        />
        <FilterText label="Room id" value={roomId} onChange={setRoomId} isFirst />
      </div>
      <QueryView query={query} skeleton={table(undefined)}>
        {(connections) =>
          connections.length === 0 ? (
            <EmptyState
              title={isFiltered ? 'No connections match' : 'Nobody has connected yet'}
              action={
                isFiltered && (
                  <Button
                    onClick={() => {
                      setState('');
                      setRoomId('');
                    }}
                  >
                    Clear filters
                  </Button>
                )
              }
            >
              {!isFiltered && <p>A connection appears here as soon as a client tries to join a room.</p>}
            </EmptyState>
          ) : (
            <>
              <Outcomes connections={connections} />
              {table(connections)}
            </>
          )
        }
      </QueryView>
      <More query={query} />
    </Page>
  );
}

function columns({ to }: CurrentProject): readonly Column<Connection>[] {
  return [
    {
      head: 'Started',
      cell: ({ connectionId, startedAt }) => (
        <Link className="row-link" href={to(`connections/${connectionId}`)}>
          <Time at={startedAt} />
        </Link>
      ),
    },
    { head: 'Identity', cell: ({ participantIdentity }) => participantIdentity ?? <NoData /> },
    {
      head: 'Room',
      cell: ({ roomId, roomName }) =>
        roomId === null ? <NoData /> : <Link href={to(`rooms/${roomId}`)}>{roomName ?? roomId}</Link>,
    },
    { head: 'State', cell: ({ state }) => <ConnectionBadge state={state} /> },
    { head: 'Duration', cell: ({ durationMs }) => (durationMs === null ? <NoData /> : span(durationMs)) },
    {
      head: 'Time to connect',
      cell: ({ timeToConnectMs }) => (timeToConnectMs === null ? <NoData /> : span(timeToConnectMs)),
    },
    { head: 'Node', cell: ({ serverName }) => serverName ?? <NoData /> },
    {
      head: 'Errors',
      align: 'end',
      cell: ({ errorCount, connectionId }) =>
        errorCount === 0 ? '0' : <Link href={to('errors', { connection: connectionId })}>{errorCount}</Link>,
    },
  ];
}
