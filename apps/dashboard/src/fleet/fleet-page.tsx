import type { FleetTotals, RtcServer } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { ListPage } from '../frame/list-page.tsx';
import { useProject } from '../frame/project.tsx';
import { t } from '../i18n/t.ts';
import { Snippet } from '../kit/copy.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { Figures, Meter } from '../kit/figure.tsx';
import { bitRate, count } from '../kit/numbers.ts';
import type { Column } from '../kit/table.tsx';
import { CpuLoad, percentOf } from './cores.tsx';
import { DrainButton } from './drain.tsx';
import { serverLoadQuery, serversQuery, totalsQuery } from './queries.ts';
import { Heartbeat, ServerState } from './server-state.tsx';

export default function FleetPage() {
  const api = useApi();
  const { to } = useProject();
  const servers = useQuery(serversQuery(api));
  const totals = useQuery(totalsQuery(api));
  return (
    <ListPage
      title={t('page.fleet')}
      query={servers}
      lead={t('fleet.lead')}
      above={totals.data && <Totals totals={totals.data} />}
      caption={t('fleet.nodesCaption')}
      columns={columns((name) => to(`fleet/${name}`))}
      keyOf={({ name }) => name}
      copyOf={({ name }) => name}
      empty={{
        title: t('fleet.noneYet'),
        children: (
          <>
            <p>{t('fleet.needOne')}</p>
            <Snippet label={t('fleet.startAll')} code="npm start" />
          </>
        ),
      }}
    />
  );
}

function Totals({ totals }: { totals: FleetTotals }) {
  const { serversByStatus: by } = totals;
  return (
    <Figures
      label={t('fleet.totals')}
      figures={[
        {
          label: t('fleet.nodes'),
          value: count(totals.servers),
          note: t('fleet.nodesNote', { active: by.ACTIVE, lost: by.OFFLINE }),
        },
        { label: t('page.rooms'), value: count(totals.activeRooms) },
        { label: t('words.participants'), value: count(totals.activeParticipants) },
        {
          label: t('fleet.inAndOut'),
          value:
            totals.networkInBps === null || totals.networkOutBps === null
              ? null
              : `${bitRate(totals.networkInBps)} / ${bitRate(totals.networkOutBps)}`,
        },
      ]}
    />
  );
}

function columns(hrefOf: (name: string) => string): readonly Column<RtcServer>[] {
  return [
    {
      head: t('words.name'),
      // One column: with one more the button would be out of sight on a window of common width.
      cell: ({ name, region }) => (
        <span className="two-lines">
          <Link className="row-link" href={hrefOf(name)}>
            {name}
          </Link>
          <span className="muted">{region}</span>
        </span>
      ),
    },
    { head: t('words.state'), cell: (server) => <StateAndDrain server={server} /> },
    { head: t('fleet.heartbeat'), cell: (server) => <Heartbeat server={server} /> },
    { head: t('page.rooms'), cell: (server) => <RoomLoad server={server} /> },
    { head: t('words.participants'), cell: ({ activeParticipants: now }) => (now === null ? <NoData /> : count(now)) },
    { head: 'CPU', cell: (server) => <CpuLoad server={server} /> },
    { head: t('fleet.memory'), cell: ({ memoryPercent: now }) => (now === null ? <NoData /> : percentOf(now)) },
    {
      head: t('fleet.packetsInOut'),
      cell: ({ packetsInPerSecond, packetsOutPerSecond }) => bothOf(packetsInPerSecond, packetsOutPerSecond, rateOf),
    },
    {
      head: t('fleet.lossInOut'),
      cell: ({ lossInPercent, lossOutPercent }) => bothOf(lossInPercent, lossOutPercent, percentOf),
    },
    {
      head: t('fleet.inOut'),
      cell: ({ networkInBps, networkOutBps }) => bothOf(networkInBps, networkOutBps, bitRate),
    },
    { head: '', align: 'end', cell: (server) => <DrainButton server={server} variant="quiet" /> },
  ];
}

export const rateOf = (perSecond: number): string => t('fleet.packetsASecond', { value: count(perSecond) });

/** Two figures that belong together, of what comes and of what goes. */
export const bothOf = (into: number | null, out: number | null, format: (value: number) => string): ReactNode =>
  into === null || out === null ? <NoData /> : `${format(into)} / ${format(out)}`;

/** Its state; of a node that drains also how far that is. */
function StateAndDrain({ server }: { server: RtcServer }) {
  const { name, status, draining } = server;
  const { data } = useQuery({ ...serverLoadQuery(useApi(), name), enabled: draining });
  const { rooms = null, roomsAtStart = null } = data?.drain ?? {};
  if (!draining || rooms === null || roomsAtStart === null || roomsAtStart === 0)
    return <ServerState status={status} />;
  return (
    <span className="two-lines">
      <ServerState status={status} />
      <Meter
        value={roomsAtStart - rooms}
        max={roomsAtStart}
        text={t('fleet.leftOf', { left: rooms, count: roomsAtStart })}
        isProgress
      />
    </span>
  );
}

export function RoomLoad({ server: { activeRooms, capacity } }: { server: RtcServer }) {
  if (activeRooms === null) return <NoData />;
  if (capacity === null) return <>{count(activeRooms)}</>;
  return <Meter value={activeRooms} max={capacity} text={`${count(activeRooms)}/${count(capacity)}`} />;
}
