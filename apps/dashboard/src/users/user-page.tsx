import type { ChatUserOverview, Conversation, Sanction } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { ConversationBadge, roleWord, typeWord } from '../chat/words.tsx';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { List } from '../frame/list.tsx';
import { Page } from '../frame/page.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { Button } from '../kit/button.tsx';
import { CopyId } from '../kit/copy.tsx';
import { EmptyState, NoData } from '../kit/empty-state.tsx';
import { Facts } from '../kit/facts.tsx';
import { byteSize, count } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { Tabs } from '../kit/tabs.tsx';
import { Ago, Time } from '../kit/time.tsx';
import { DeleteMessagesDialog } from '../moderation/delete-messages-dialog.tsx';
import { LiftDialog } from '../moderation/sanction-dialogs.tsx';
import { sanctionColumns, withKind } from '../moderation/sanction-table.tsx';
import { userKeys, userQuery } from './queries.ts';
import { t } from './texts.ts';
import { LastSeen, Nothing } from './words.tsx';

export default function UserPage() {
  const { userId = '' } = useParams<{ userId: string }>();
  const { project, environment } = useProject();
  const id = readId(userId);
  const query = useQuery(userQuery(useApi(), project.id, environment, id));
  return (
    <Page title={id} query={query} lead={t('users.never')} actions={query.data && <DeleteMessages userId={id} />}>
      <QueryView query={query}>{(user) => <UserBody user={user} />}</QueryView>
    </Page>
  );
}

/** The router leaves what has a meaning in an address as it is, and ids have `@` and `/`. */
function readId(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function DeleteMessages({ userId }: { userId: string }) {
  const { may } = useProject();
  const [isOpen, setOpen] = useState(false);
  const mayManage = may('chat:manage');
  return (
    <>
      <Button
        variant="danger"
        disabled={!mayManage}
        title={mayManage ? undefined : askFor('chat:manage')}
        onClick={() => setOpen(true)}
      >
        {t('users.deleteMessages')}
      </Button>
      {isOpen && <DeleteMessagesDialog userId={userId} onClose={() => setOpen(false)} />}
    </>
  );
}

function UserBody({ user }: { user: ChatUserOverview }) {
  const { userId, sanctions } = user;
  return (
    <>
      <section className="panel" aria-label={t('users.about')}>
        <UserFacts user={user} />
      </section>
      <Tabs
        label={t('words.user')}
        tabs={[
          {
            id: 'conversations',
            label: t('words.conversations'),
            panel: () => <ConversationsOf userId={userId} />,
          },
          { id: 'sanctions', label: t('users.sanctions'), panel: () => <SanctionsOf sanctions={sanctions} /> },
        ]}
      />
    </>
  );
}

function UserFacts({ user }: { user: ChatUserOverview }) {
  const { userId, hasRecord, hasName, hasAvatar, role, metadataBytes, createdAt, updatedAt } = user;
  const given = (is: boolean) => (is ? t('users.given') : <Nothing />);
  return (
    <Facts
      rows={[
        [t('words.id'), <CopyId key="i" id={userId} label={t('users.copyId')} />],
        [t('words.lastSeen'), <LastSeen key="l" user={user} />],
        [t('users.record'), hasRecord ? t('users.written') : t('users.notWritten')],
        ...(hasRecord
          ? ([
              [t('words.role'), role ?? <Nothing key="r" />],
              [t('words.name'), given(hasName)],
              [t('users.picture'), given(hasAvatar)],
              [t('words.metadata'), metadataBytes === 0 ? <Nothing key="m" /> : byteSize(metadataBytes)],
            ] as const)
          : []),
        ...(createdAt === null ? [] : ([[t('words.created'), <Time key="c" at={createdAt} />]] as const)),
        ...(updatedAt === null ? [] : ([[t('users.changed'), <Time key="u" at={updatedAt} />]] as const)),
      ]}
    />
  );
}

function ConversationsOf({ userId }: { userId: string }) {
  const api = useApi();
  const { project, environment, to } = useProject();
  const query = usePaged(userKeys.conversations(project.id, environment, userId), (page, signal) =>
    api.request(
      'listProjectConversations',
      { projectId: project.id, query: { environment, userId, ...page } },
      { signal },
    ),
  );
  return (
    <List
      query={query}
      caption={t('users.conversationsCaption')}
      columns={conversationColumns(to)}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
      empty={{ title: t('users.noConversation'), children: <p>{t('chat.backendAdds')}</p> }}
    />
  );
}

const conversationColumns = (to: (page: string) => string): readonly Column<Conversation>[] => [
  { head: t('words.name'), cell: ({ id, name }) => <Link href={to(`chat/${id}`)}>{name}</Link> },
  { head: t('words.type'), cell: ({ type }) => typeWord(type) },
  { head: t('words.role'), cell: ({ myRole }) => (myRole == null ? <NoData /> : roleWord(myRole)) },
  { head: t('words.state'), cell: ({ status }) => <ConversationBadge status={status} /> },
  {
    head: t('users.unread'),
    align: 'end',
    cell: ({ unreadCount }) => (unreadCount == null ? <NoData /> : count(unreadCount)),
  },
  {
    head: t('chat.lastMessage'),
    cell: ({ lastMessageAt }) =>
      lastMessageAt === null ? <span className="no-data">{t('chat.noneYet')}</span> : <Ago at={lastMessageAt} />,
  },
];

/** What holds in all chat; that of one conversation is on its page. */
function SanctionsOf({ sanctions }: { sanctions: readonly Sanction[] }) {
  const { may } = useProject();
  const [lifted, setLifted] = useState<Sanction | null>(null);
  return (
    <>
      {sanctions.length === 0 ? (
        <EmptyState title={t('users.noSanction')}>
          <p>{t('users.sanctionsElsewhere')}</p>
        </EmptyState>
      ) : (
        <Table
          caption={t('users.sanctionsCaption')}
          columns={withKind(sanctionColumns(may('chat:manage') ? setLifted : null))}
          rows={sanctions}
          keyOf={({ kind }) => kind}
        />
      )}
      {lifted && <LiftDialog sanction={lifted} onClose={() => setLifted(null)} />}
    </>
  );
}
