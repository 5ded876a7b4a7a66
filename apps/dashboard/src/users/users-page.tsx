import type { ChatUserMetadata } from '@parley/contract';
import { UserLink } from '../chat/user-link.tsx';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { FilterText } from '../frame/filter-text.tsx';
import { ListPage } from '../frame/list-page.tsx';
import { useProject } from '../frame/project.tsx';
import { useFilter } from '../frame/url.ts';
import { environmentName } from '../i18n/names.ts';
import { Snippet } from '../kit/copy.tsx';
import type { Column } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { userKeys } from './queries.ts';
import { t } from './texts.ts';
import { LastSeen, Nothing } from './words.tsx';

export default function UsersPage() {
  const api = useApi();
  const { project, environment } = useProject();
  const [userId, setUserId] = useFilter('user');
  const query = usePaged(userKeys.list(project.id, environment, userId), (page, signal) =>
    api.request(
      'listProjectChatUsers',
      {
        projectId: project.id,
        query: { environment, ...page, ...(userId.trim() === '' ? {} : { userId: userId.trim() }) },
      },
      { signal },
    ),
  );
  return (
    <ListPage
      title={t('page.users')}
      lead={t('users.lead')}
      query={query}
      caption={t('users.caption', { environment: environmentName(environment) })}
      columns={columns()}
      keyOf={(user) => user.userId}
      copyOf={(user) => user.userId}
      filters={<FilterText label={t('users.byId')} value={userId} onChange={setUserId} isFirst />}
      onClear={userId === '' ? undefined : () => setUserId('')}
      empty={{
        title: t('users.none', { environment: environmentName(environment) }),
        noMatch: t('users.noMatch'),
        children: <HowTo />,
      }}
    />
  );
}

function HowTo() {
  const record = `curl -s -X PUT ${location.origin}/v1/chat/users/ada \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"name":"Ada"}'`;
  return (
    <>
      <p>{t('users.whoAppears')}</p>
      <Snippet label={t('users.writeOne')} code={record} />
    </>
  );
}

const columns = (): readonly Column<ChatUserMetadata>[] => [
  { head: t('words.user'), cell: ({ userId }) => <UserLink id={userId} /> },
  { head: t('users.record'), cell: ({ hasRecord }) => (hasRecord ? t('users.written') : <Nothing />) },
  { head: t('words.role'), cell: ({ role }) => role ?? <Nothing /> },
  { head: t('words.lastSeen'), cell: (user) => <LastSeen user={user} /> },
  {
    head: t('words.created'),
    cell: ({ createdAt }) => (createdAt === null ? <Nothing /> : <Time at={createdAt} />),
  },
  {
    head: t('users.changed'),
    cell: ({ updatedAt }) => (updatedAt === null ? <Nothing /> : <Time at={updatedAt} />),
  },
];
