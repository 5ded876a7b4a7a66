import type { MessageMetadata } from '@parley/contract';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { More } from '../frame/more.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { CopyId, Snippet } from '../kit/copy.tsx';
import { EmptyState, NoData } from '../kit/empty-state.tsx';
import { count, span } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { Ago, Time } from '../kit/time.tsx';
import { chatKeys } from './queries.ts';
import { MessageBadge, messageTypeWords } from './words.tsx';

/** Messages by who, when and how fast; the routes give no content, so there is none to show. */
export function MessageTable({ conversationId }: { conversationId: string }) {
  const api = useApi();
  const { project, environment } = useProject();
  const query = usePaged([...chatKeys.one(project.id, environment, conversationId), 'messages'], (page, signal) =>
    api.request(
      'listProjectMessages',
      { projectId: project.id, conversationId, query: { environment, ...page } },
      { signal },
    ),
  );
  const table = (rows: readonly MessageMetadata[] | undefined) => (
    <Table
      caption="Messages of the conversation, newest first, without their content"
      columns={columns}
      rows={rows}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
    />
  );
  return (
    <>
      <QueryView query={query} skeleton={table(undefined)}>
        {(rows) => (rows.length === 0 ? <NoMessages conversationId={conversationId} /> : table(rows))}
      </QueryView>
      <More query={query} />
    </>
  );
}

function NoMessages({ conversationId }: { conversationId: string }) {
  const code = `curl -s -X POST ${location.origin}/v1/chat/conversations/${conversationId}/messages \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"senderId":"ada","text":"Hello"}'`;
  return (
    <EmptyState title="No message yet">
      <p>Clients send with a chat token over the socket, your backend with its key.</p>
      <Snippet label="Send one" code={code} />
    </EmptyState>
  );
}

const columns: readonly Column<MessageMetadata>[] = [
  { head: 'Number', align: 'end', cell: ({ seq }) => count(seq) },
  { head: 'Id', cell: ({ id }) => <CopyId id={id} label="Copy message id" /> },
  {
    head: 'Sender',
    cell: ({ senderId }) => (senderId === null ? <NoData /> : <span className="mono">{senderId}</span>),
  },
  {
    head: 'Type',
    cell: ({ type, threadRootId }) => `${messageTypeWords[type]}${threadRootId === null ? '' : ', in a thread'}`,
  },
  {
    head: 'State',
    cell: ({ status, editedAt, deletedAt }) => {
      const at = deletedAt ?? editedAt;
      return (
        <span className="row">
          <MessageBadge status={status} />
          {at !== null && <Ago at={at} />}
        </span>
      );
    },
  },
  { head: 'Stored', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    head: 'On its way',
    align: 'end',
    cell: ({ latencyMs }) => (latencyMs === null || latencyMs < 0 ? <NoData /> : span(latencyMs)),
  },
];
