import type { Presence } from '@parley/contract';
import { limitRows } from '@parley/contract/limits';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { More } from '../frame/more.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { EmptyState } from '../kit/empty-state.tsx';
import { useAnnounced } from '../kit/live.tsx';
import { count, plural } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { chatKeys } from './queries.ts';
import { PresenceBadge } from './words.tsx';

export function PresenceTable({ conversationId }: { conversationId: string }) {
  const api = useApi();
  const { project, environment } = useProject();
  const query = usePaged([...chatKeys.one(project.id, environment, conversationId), 'presence'], (page, signal) =>
    api.request(
      'listProjectPresence',
      { projectId: project.id, conversationId, query: { environment, ...page } },
      { signal },
    ),
  );
  const more = query.hasNextPage ? ' and more' : '';
  useAnnounced(query.data ? `${plural(query.data.length, 'user')}${more} present` : null);
  const table = (rows: readonly Presence[] | undefined) => (
    <Table
      caption="Who is present"
      columns={columns}
      rows={rows}
      keyOf={({ userId }) => userId}
      copyOf={({ userId }) => userId}
    />
  );
  return (
    <>
      <p className="muted">
        Somebody who falls silent is shown for {limitRows.CHAT_PRESENCE_TTL_SECONDS.default} s more, unless this
        installation says otherwise.
      </p>
      <QueryView query={query} skeleton={table(undefined)}>
        {(rows) => (rows.length === 0 ? <EmptyState title="Nobody is present now" /> : table(rows))}
      </QueryView>
      <More query={query} />
    </>
  );
}

const columns: readonly Column<Presence>[] = [
  { head: 'User', cell: ({ userId }) => <strong className="mono">{userId}</strong> },
  { head: 'Status', cell: ({ status }) => <PresenceBadge status={status} /> },
  { head: 'Since', cell: ({ since }) => <Ago at={since} /> },
  { head: 'Last seen', cell: ({ lastSeenAt }) => <Ago at={lastSeenAt} /> },
  { head: 'Connections', align: 'end', cell: ({ connections }) => count(connections) },
];
