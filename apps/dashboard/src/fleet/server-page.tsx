import type { RtcServer } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { EmptyState, NoData } from '../kit/empty-state.tsx';
import { Facts } from '../kit/facts.tsx';
import { bitRate, decimal } from '../kit/numbers.ts';
import { Table } from '../kit/table.tsx';
import { Ago, Time } from '../kit/time.tsx';
import { roomKeys } from '../rooms/queries.ts';
import { DrainButton } from './drain.tsx';
import { RoomLoad } from './fleet-page.tsx';
import { DrainProgress, LoadCharts } from './load.tsx';
import { serverLoadQuery, serverQuery } from './queries.ts';
import { Heartbeat, ServerState } from './server-state.tsx';

export default function ServerPage() {
  const { name = '' } = useParams<{ name: string }>();
  const query = useQuery(serverQuery(useApi(), name));
  const server = query.data;
  return (
    <Page
      title={name}
      query={query}
      aside={server && <ServerState status={server.status} />}
      actions={server && <DrainButton server={server} />}
    >
      <QueryView query={query}>{(found) => <ServerBody server={found} />}</QueryView>
    </Page>
  );
}

function ServerBody({ server }: { server: RtcServer }) {
  const load = useQuery(serverLoadQuery(useApi(), server.name));
  return (
    <>
      {server.draining && <DrainProgress server={server} drain={load.data?.drain ?? null} />}
      <div className="columns">
        <section className="panel" aria-label="About the node">
          <Facts
            rows={[
              ['Region', server.region],
              [
                'Public host',
                <span key="h" className="mono">
                  {server.publicHost}
                </span>,
              ],
              ...(server.internalUrl === undefined
                ? []
                : ([
                    [
                      'Internal URL',
                      <span key="u" className="mono">
                        {server.internalUrl}
                      </span>,
                    ],
                  ] as const)),
              ['Version', server.version ?? <NoData key="v" />],
              ['Heartbeat', <Heartbeat key="b" server={server} />],
              ['Registered', <Time key="r" at={server.registeredAt} />],
            ]}
          />
        </section>
        <section className="panel" aria-label="Load now">
          <Facts
            rows={[
              ['Rooms', <RoomLoad key="r" server={server} />],
              ['Participants', server.activeParticipants ?? <NoData key="p" />],
              ['CPU', server.cpuPercent === null ? <NoData key="c" /> : `${decimal(server.cpuPercent)} %`],
              ['Memory', server.memoryPercent === null ? <NoData key="m" /> : `${decimal(server.memoryPercent)} %`],
              ['In', server.networkInBps === null ? <NoData key="i" /> : bitRate(server.networkInBps)],
              ['Out', server.networkOutBps === null ? <NoData key="o" /> : bitRate(server.networkOutBps)],
            ]}
          />
        </section>
      </div>
      <LoadCharts points={load.data?.points ?? []} />
      <ServerRooms name={server.name} />
    </>
  );
}

function ServerRooms({ name }: { name: string }) {
  const api = useApi();
  const { project, environment, to } = useProject();
  const query = usePaged(roomKeys.list(project.id, environment), (page, signal) =>
    api.request('listProjectRooms', { projectId: project.id, query: { environment, ...page } }, { signal }),
  );
  return (
    <section className="stack" aria-labelledby="rooms-here">
      <h2 id="rooms-here">Rooms of this project here</h2>
      <QueryView query={query}>
        {(rooms) => {
          const here = rooms.filter(({ serverName }) => serverName === name);
          if (here.length === 0)
            return <EmptyState title={`No room of this project in ${environment.toLowerCase()}`} />;
          return (
            <Table
              caption={`Rooms on ${name}`}
              rows={here}
              keyOf={({ id }) => id}
              copyOf={({ id }) => id}
              columns={[
                {
                  head: 'Name',
                  cell: (room) => (
                    <Link className="row-link" href={to(`rooms/${room.id}`)}>
                      {room.name}
                    </Link>
                  ),
                },
                { head: 'Participants', cell: (room) => room.participantCount ?? <NoData /> },
                { head: 'Opened', cell: (room) => <Ago at={room.createdAt} /> },
              ]}
            />
          );
        }}
      </QueryView>
    </section>
  );
}
