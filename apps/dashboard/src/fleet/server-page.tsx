import type { RtcServer } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { List } from '../frame/list.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { environmentName } from '../i18n/names.ts';
import { t } from '../i18n/t.ts';
import { NoData } from '../kit/empty-state.tsx';
import { Facts } from '../kit/facts.tsx';
import { bitRate } from '../kit/numbers.ts';
import { Ago, Time } from '../kit/time.tsx';
import { roomKeys } from '../rooms/queries.ts';
import { CpuLoad, percentOf } from './cores.tsx';
import { DrainButton } from './drain.tsx';
import { bothOf, RoomLoad, rateOf } from './fleet-page.tsx';
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
        <section className="panel" aria-label={t('fleet.about')}>
          <Facts
            rows={[
              [t('words.region'), server.region],
              [
                t('fleet.publicHost'),
                <span key="h" className="mono">
                  {server.publicHost}
                </span>,
              ],
              ...(server.internalUrl === undefined
                ? []
                : ([
                    [
                      t('fleet.internalUrl'),
                      <span key="u" className="mono">
                        {server.internalUrl}
                      </span>,
                    ],
                  ] as const)),
              [t('words.version'), server.version ?? <NoData key="v" />],
              [t('fleet.heartbeat'), <Heartbeat key="b" server={server} />],
              [t('fleet.registered'), <Time key="r" at={server.registeredAt} />],
            ]}
          />
        </section>
        <section className="panel" aria-label={t('fleet.loadNow')}>
          <Facts
            rows={[
              [t('page.rooms'), <RoomLoad key="r" server={server} />],
              [t('words.participants'), server.activeParticipants ?? <NoData key="p" />],
              ['CPU', <CpuLoad key="c" server={server} />],
              [t('fleet.memory'), server.memoryPercent === null ? <NoData key="m" /> : percentOf(server.memoryPercent)],
              [t('fleet.in'), server.networkInBps === null ? <NoData key="i" /> : bitRate(server.networkInBps)],
              [t('fleet.out'), server.networkOutBps === null ? <NoData key="o" /> : bitRate(server.networkOutBps)],
              [t('fleet.packetsInOut'), bothOf(server.packetsInPerSecond, server.packetsOutPerSecond, rateOf)],
              [t('fleet.lossInOut'), bothOf(server.lossInPercent, server.lossOutPercent, percentOf)],
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
  const query = usePaged(roomKeys.list(project.id, environment, { serverName: name }), (page, signal) =>
    api.request(
      'listProjectRooms',
      { projectId: project.id, query: { environment, serverName: name, ...page } },
      { signal },
    ),
  );
  return (
    <section className="stack" aria-labelledby="rooms-here">
      <h2 id="rooms-here">{t('fleet.roomsHere')}</h2>
      <List
        query={query}
        caption={t('fleet.roomsOn', { name })}
        columns={[
          {
            head: t('words.name'),
            cell: (room) => (
              <Link className="row-link" href={to(`rooms/${room.id}`)}>
                {room.name}
              </Link>
            ),
          },
          { head: t('words.participants'), cell: (room) => room.participantCount ?? <NoData /> },
          { head: t('words.opened'), cell: (room) => <Ago at={room.createdAt} /> },
        ]}
        keyOf={({ id }) => id}
        copyOf={({ id }) => id}
        empty={{ title: t('fleet.noRoomHere', { environment: environmentName(environment) }) }}
      />
    </section>
  );
}
