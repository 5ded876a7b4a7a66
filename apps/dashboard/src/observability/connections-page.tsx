import type { Connection } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { asList } from '../data/queries.ts';
import { useApi } from '../data/services.tsx';
import { FilterText } from '../frame/filter-text.tsx';
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
import { limitOf, limits } from './queries.ts';
import { ConnectionBadge, isState, stateWords } from './words.tsx';

export default function ConnectionsPage() {
  const api = useApi();
  const current = useProject();
  const { project, environment } = current;
  const [state, setState] = useFilter('state');
  const [roomId, setRoomId] = useFilter('room');
  const [limitText, setLimit] = useFilter('limit');
  const limit = limitOf(limitText);
  const filter = { ...(isState(state) ? { state } : {}), ...(roomId === '' ? {} : { roomId }) };
  const query = useQuery({
    queryKey: ['project', project.id, 'connections', environment, filter, limit],
    queryFn: ({ signal }) =>
      api.call(
        'listProjectConnections',
        { projectId: project.id, query: { environment, ...filter, limit } },
        { signal },
      ),
    refetchInterval: asList,
  });
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
        <SelectField
          label="Show"
          value={String(limit)}
          options={limits.map((value) => ({ value, label: `Newest ${value}` }))}
          onChange={(event) => setLimit(event.target.value === limits[0] ? '' : event.target.value)}
        />
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
              {connections.length === limit && (
                <p className="muted">Newest {limit}. Narrow the filters to see older entries.</p>
              )}
            </>
          )
        }
      </QueryView>
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
