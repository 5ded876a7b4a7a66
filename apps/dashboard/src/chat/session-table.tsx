import type { ChatConnection } from '@parley/contract';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { More } from '../frame/more.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { Badge } from '../kit/badge.tsx';
import { EmptyState, NoData } from '../kit/empty-state.tsx';
import { count } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { chatKeys } from './queries.ts';

/** Chat sockets, newest first: those that are open and those that were. */
export function SessionTable() {
  const api = useApi();
  const { project, environment } = useProject();
  const query = usePaged(chatKeys.sessions(project.id, environment), (page, signal) =>
    api.request('listChatConnections', { projectId: project.id, query: { environment, ...page } }, { signal }),
  );
  const table = (rows: readonly ChatConnection[] | undefined) => (
    <Table
      caption={`Chat sessions in ${environment.toLowerCase()}`}
      columns={columns}
      rows={rows}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
    />
  );
  return (
    <>
      <QueryView query={query} skeleton={table(undefined)}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="Nobody has opened a chat session yet">
              <p>A session appears here when a client connects with a chat token.</p>
            </EmptyState>
          ) : (
            table(rows)
          )
        }
      </QueryView>
      <More query={query} />
    </>
  );
}

const columns: readonly Column<ChatConnection>[] = [
  { head: 'User', cell: ({ userId }) => <strong className="mono">{userId}</strong> },
  {
    head: 'State',
    cell: ({ disconnectedAt, closeCode }) =>
      disconnectedAt === null ? (
        <Badge tone="ok">Open</Badge>
      ) : (
        <Badge shape="square">{closeCode === null ? 'Closed' : `Closed, ${closeCode}`}</Badge>
      ),
  },
  { head: 'Connected', cell: ({ connectedAt }) => <Ago at={connectedAt} /> },
  {
    head: 'Ended',
    cell: ({ disconnectedAt }) =>
      disconnectedAt === null ? <span className="no-data">Still open</span> : <Ago at={disconnectedAt} />,
  },
  { head: 'Subscriptions', align: 'end', cell: ({ subscriptions }) => count(subscriptions) },
  { head: 'Sent', align: 'end', cell: ({ messagesSent }) => count(messagesSent) },
  { head: 'Address', cell: ({ ip }) => (ip === null ? <NoData /> : <span className="mono">{ip}</span>) },
];
