import type { ConversationMember } from '@parley/contract';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { More } from '../frame/more.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { Badge } from '../kit/badge.tsx';
import { EmptyState } from '../kit/empty-state.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Ago, Time } from '../kit/time.tsx';
import { chatKeys } from './queries.ts';
import { roleWords } from './words.tsx';

export function MemberTable({ conversationId }: { conversationId: string }) {
  const api = useApi();
  const { project, environment } = useProject();
  const query = usePaged([...chatKeys.one(project.id, environment, conversationId), 'members'], (page, signal) =>
    api.request(
      'listProjectConversationMembers',
      { projectId: project.id, conversationId, query: { environment, ...page } },
      { signal },
    ),
  );
  const table = (rows: readonly ConversationMember[] | undefined) => (
    <Table
      caption="Members of the conversation"
      columns={columns}
      rows={rows}
      keyOf={({ userId }) => userId}
      copyOf={({ userId }) => userId}
    />
  );
  return (
    <>
      <QueryView query={query} skeleton={table(undefined)}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="Nobody is a member yet">
              <p>Your backend adds members; a chat token alone makes nobody one.</p>
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

const columns: readonly Column<ConversationMember>[] = [
  { head: 'User', cell: ({ userId }) => <strong className="mono">{userId}</strong> },
  { head: 'Role', cell: ({ role }) => roleWords[role] },
  {
    head: 'State',
    cell: ({ active, removedAt }) =>
      active ? (
        <Badge tone="ok">Active</Badge>
      ) : (
        <span className="row">
          <Badge shape="square">Removed</Badge>
          {removedAt !== null && <Ago at={removedAt} />}
        </span>
      ),
  },
  { head: 'Joined', cell: ({ joinedAt }) => <Time at={joinedAt} /> },
  {
    head: 'Last read',
    cell: ({ lastReadAt }) =>
      lastReadAt === null ? <span className="no-data">Nothing yet</span> : <Ago at={lastReadAt} />,
  },
];
