import type { Presence } from '@parley/contract';
import { limitRows } from '@parley/contract/limits';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { List } from '../frame/list.tsx';
import { useProject } from '../frame/project.tsx';
import { t } from '../i18n/t.ts';
import { useAnnounced } from '../kit/live.tsx';
import { count } from '../kit/numbers.ts';
import type { Column } from '../kit/table.tsx';
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
  useAnnounced(
    query.data ? t(query.hasNextPage ? 'chat.presentOrMore' : 'chat.present', { count: query.data.length }) : null,
  );
  return (
    <>
      <p className="muted">{t('chat.silentShown', { seconds: limitRows.CHAT_PRESENCE_TTL_SECONDS.default })}</p>
      <List
        query={query}
        caption={t('chat.presenceCaption')}
        columns={columns()}
        keyOf={({ userId }) => userId}
        copyOf={({ userId }) => userId}
        empty={{ title: t('chat.nobodyPresent') }}
      />
    </>
  );
}

const columns = (): readonly Column<Presence>[] => [
  { head: t('words.user'), cell: ({ userId }) => <strong className="mono">{userId}</strong> },
  { head: t('words.status'), cell: ({ status }) => <PresenceBadge status={status} /> },
  { head: t('chat.since'), cell: ({ since }) => <Ago at={since} /> },
  { head: t('words.lastSeen'), cell: ({ lastSeenAt }) => <Ago at={lastSeenAt} /> },
  { head: t('page.connections'), align: 'end', cell: ({ connections }) => count(connections) },
];
