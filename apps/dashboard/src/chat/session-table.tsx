import type { ChatConnection } from '@parley/contract';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { List } from '../frame/list.tsx';
import { useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { t } from '../i18n/t.ts';
import { Badge } from '../kit/badge.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { count } from '../kit/numbers.ts';
import type { Column } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { chatKeys } from './queries.ts';
import { UserLink } from './user-link.tsx';

/** Chat sockets, newest first: those that are open and those that were. */
export function SessionTable() {
  const api = useApi();
  const { project, environment } = useProject();
  const query = usePaged(chatKeys.sessions(project.id, environment), (page, signal) =>
    api.request('listChatConnections', { projectId: project.id, query: { environment, ...page } }, { signal }),
  );
  return (
    <List
      query={query}
      caption={t('chat.sessionsCaption', { environment: environmentName(environment) })}
      columns={columns()}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
      empty={{
        title: t('chat.noSession'),
        children: <p>{t('chat.sessionAppears')}</p>,
      }}
    />
  );
}

const columns = (): readonly Column<ChatConnection>[] => [
  { head: t('words.user'), cell: ({ userId }) => <UserLink id={userId} /> },
  {
    head: t('words.state'),
    cell: ({ disconnectedAt, closeCode }) =>
      disconnectedAt === null ? (
        <Badge tone="ok">{t('rooms.open')}</Badge>
      ) : (
        <Badge shape="square">
          {closeCode === null ? t('rooms.closed') : t('chat.closedWith', { code: closeCode })}
        </Badge>
      ),
  },
  { head: t('words.connected'), cell: ({ connectedAt }) => <Ago at={connectedAt} /> },
  {
    head: t('words.ended'),
    cell: ({ disconnectedAt }) =>
      disconnectedAt === null ? <span className="no-data">{t('chat.stillOpen')}</span> : <Ago at={disconnectedAt} />,
  },
  { head: t('chat.subscriptions'), align: 'end', cell: ({ subscriptions }) => count(subscriptions) },
  { head: t('words.sent'), align: 'end', cell: ({ messagesSent }) => count(messagesSent) },
  { head: t('words.address'), cell: ({ ip }) => (ip === null ? <NoData /> : <span className="mono">{ip}</span>) },
];
