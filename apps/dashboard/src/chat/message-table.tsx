import type { MessageMetadata } from '@parley/contract';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { List } from '../frame/list.tsx';
import { useProject } from '../frame/project.tsx';
import { t } from '../i18n/t.ts';
import { CopyId, Snippet } from '../kit/copy.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { count, span } from '../kit/numbers.ts';
import type { Column } from '../kit/table.tsx';
import { Ago, Time } from '../kit/time.tsx';
import { chatKeys } from './queries.ts';
import { MessageBadge, messageTypeWord } from './words.tsx';

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
  return (
    <List
      query={query}
      caption={t('chat.messagesCaption')}
      columns={columns()}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
      empty={{ title: t('chat.noMessage'), children: <FirstMessage conversationId={conversationId} /> }}
    />
  );
}

function FirstMessage({ conversationId }: { conversationId: string }) {
  const code = `curl -s -X POST ${location.origin}/v1/chat/conversations/${conversationId}/messages \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"senderId":"ada","text":"Hello"}'`;
  return (
    <>
      <p>{t('chat.howSent')}</p>
      <Snippet label={t('chat.sendOne')} code={code} />
    </>
  );
}

const columns = (): readonly Column<MessageMetadata>[] => [
  { head: t('chat.number'), align: 'end', cell: ({ seq }) => count(seq) },
  { head: t('words.id'), cell: ({ id }) => <CopyId id={id} label={t('chat.copyMessageId')} /> },
  {
    head: t('chat.sender'),
    cell: ({ senderId }) => (senderId === null ? <NoData /> : <span className="mono">{senderId}</span>),
  },
  {
    head: t('words.type'),
    cell: ({ type, threadRootId }) =>
      threadRootId === null ? messageTypeWord(type) : t('chat.inThread', { type: messageTypeWord(type) }),
  },
  {
    head: t('words.state'),
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
  { head: t('chat.stored'), cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    head: t('chat.onItsWay'),
    align: 'end',
    cell: ({ latencyMs }) => (latencyMs === null || latencyMs < 0 ? <NoData /> : span(latencyMs)),
  },
];
