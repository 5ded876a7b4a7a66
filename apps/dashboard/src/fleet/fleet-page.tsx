import type { FleetTotals, RtcServer } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { Snippet } from '../kit/copy.tsx';
import { EmptyState, NoData } from '../kit/empty-state.tsx';
import { Figures, Meter } from '../kit/figure.tsx';
import { bitRate, count, decimal } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { DrainButton } from './drain.tsx';
import { serversQuery, totalsQuery } from './queries.ts';
import { Heartbeat, ServerState } from './server-state.tsx';

export default function FleetPage() {
  const api = useApi();
  const { to } = useProject();
  const servers = useQuery(serversQuery(api));
  const totals = useQuery(totalsQuery(api));
  const table = (rows: readonly RtcServer[] | undefined) => (
    <Table
      caption="Media nodes"
      columns={columns((name) => to(`fleet/${name}`))}
      rows={rows}
      keyOf={({ name }) => name}
      copyOf={({ name }) => name}
    />
  );
  return (
    <Page title="Fleet" query={servers} lead="Media nodes of this instance. They serve every project.">
      {totals.data && <Totals totals={totals.data} />}
      <QueryView query={servers} skeleton={table(undefined)}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="No media node has registered">
              <p>Rooms need one. It registers itself with SFU_REGISTRATION_SECRET and appears here.</p>
              <Snippet label="Start everything, one node included" code="npm start" />
            </EmptyState>
          ) : (
            table(rows)
          )
        }
      </QueryView>
    </Page>
  );
}

function Totals({ totals }: { totals: FleetTotals }) {
  const { serversByStatus: by } = totals;
  return (
    <Figures
      label="Totals"
      figures={[
        { label: 'Nodes', value: count(totals.servers), note: `${by.ACTIVE} active, ${by.OFFLINE} lost` },
        { label: 'Rooms', value: count(totals.activeRooms) },
        { label: 'Participants', value: count(totals.activeParticipants) },
        {
          label: 'In and out',
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
      head: 'Name',
      cell: ({ name }) => (
        <Link className="row-link" href={hrefOf(name)}>
          {name}
        </Link>
      ),
    },
    { head: 'Region', cell: ({ region }) => region },
    { head: 'State', cell: ({ status }) => <ServerState status={status} /> },
    { head: 'Heartbeat', cell: (server) => <Heartbeat server={server} /> },
    { head: 'Rooms', cell: (server) => <RoomLoad server={server} /> },
    { head: 'Participants', cell: ({ activeParticipants: now }) => (now === null ? <NoData /> : count(now)) },
    { head: 'CPU', cell: ({ cpuPercent: now }) => (now === null ? <NoData /> : `${decimal(now)} %`) },
    { head: 'Memory', cell: ({ memoryPercent: now }) => (now === null ? <NoData /> : `${decimal(now)} %`) },
    {
      head: 'In / out',
      cell: ({ networkInBps, networkOutBps }) =>
        networkInBps === null || networkOutBps === null ? (
          <NoData />
        ) : (
          `${bitRate(networkInBps)} / ${bitRate(networkOutBps)}`
        ),
    },
    { head: 'Version', cell: ({ version }) => version ?? <NoData /> },
    { head: '', align: 'end', cell: (server) => <DrainButton server={server} variant="quiet" /> },
  ];
}

export function RoomLoad({ server: { activeRooms, capacity } }: { server: RtcServer }) {
  if (activeRooms === null) return <NoData />;
  if (capacity === null) return <>{count(activeRooms)}</>;
  return <Meter value={activeRooms} max={capacity} text={`${count(activeRooms)}/${count(capacity)}`} />;
}
