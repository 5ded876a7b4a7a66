import type { ConversationMember } from '@parley/contract';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { List } from '../frame/list.tsx';
import { useProject } from '../frame/project.tsx';
import { t } from '../i18n/t.ts';
import { Badge } from '../kit/badge.tsx';
import type { Column } from '../kit/table.tsx';
import { Ago, Time } from '../kit/time.tsx';
import { chatKeys } from './queries.ts';
import { UserLink } from './user-link.tsx';
import { roleWord } from './words.tsx';

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
  return (
    <List
      query={query}
      caption={t('chat.membersCaption')}
      columns={columns()}
      keyOf={({ userId }) => userId}
      copyOf={({ userId }) => userId}
      empty={{
        title: t('chat.noMember'),
        children: <p>{t('chat.backendAdds')}</p>,
      }}
    />
  );
}

const columns = (): readonly Column<ConversationMember>[] => [
  { head: t('words.user'), cell: ({ userId }) => <UserLink id={userId} /> },
  { head: t('words.role'), cell: ({ role }) => roleWord(role) },
  {
    head: t('words.state'),
    cell: ({ active, removedAt }) =>
      active ? (
        <Badge tone="ok">{t('words.active')}</Badge>
      ) : (
        <span className="row">
          <Badge shape="square">{t('words.removed')}</Badge>
          {removedAt !== null && <Ago at={removedAt} />}
        </span>
      ),
  },
  { head: t('words.joined'), cell: ({ joinedAt }) => <Time at={joinedAt} /> },
  {
    head: t('chat.lastRead'),
    cell: ({ lastReadAt }) =>
      lastReadAt === null ? <span className="no-data">{t('chat.nothingYet')}</span> : <Ago at={lastReadAt} />,
  },
];
