import type { ChatOverview } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { environmentName } from '../i18n/names.ts';
import { listOf, t } from '../i18n/t.ts';
import { Chart } from '../kit/chart.tsx';
import { Snippet } from '../kit/copy.tsx';
import { EmptyState } from '../kit/empty-state.tsx';
import { Figures } from '../kit/figure.tsx';
import { count } from '../kit/numbers.ts';
import { Tabs } from '../kit/tabs.tsx';
import { ConversationTable } from './conversation-table.tsx';
import { chatOverviewQuery } from './queries.ts';
import { SessionTable } from './session-table.tsx';

export default function ChatPage() {
  const { project, environment } = useProject();
  const query = useQuery(chatOverviewQuery(useApi(), project.id, environment));
  return (
    <Page title={t('page.chat')} query={query} lead={t('chat.lead')}>
      <QueryView query={query}>
        {(overview) => (overview.conversations.total === 0 ? <NoChat /> : <Explorer overview={overview} />)}
      </QueryView>
    </Page>
  );
}

function Explorer({ overview }: { overview: ChatOverview }) {
  const { conversations, members, messages, connections, reactions, attachments } = overview;
  return (
    <>
      <Figures
        label={t('page.chat')}
        figures={[
          {
            label: t('words.conversations'),
            value: count(conversations.total),
            note: t('chat.conversationsNote', { active: conversations.active, archived: conversations.archived }),
          },
          { label: t('words.members'), value: count(members), note: t('chat.overAll') },
          {
            label: t('chat.messages24'),
            value: count(messages.last24h),
            note: t('chat.messagesNote', { week: messages.last7d, all: messages.total }),
          },
          {
            label: t('chat.openSessions'),
            value: count(connections.active),
            note: listOf([t('chat.reactions', { count: reactions }), t('chat.attachments', { count: attachments })]),
          },
        ]}
      />
      <Chart
        title={t('chat.perHour')}
        kind="bars"
        series={[t('words.messages')]}
        format={count}
        points={overview.hours.map((hour) => ({ at: hour.at, values: [hour.messages] }))}
      />
      <Tabs
        label={t('page.chat')}
        tabs={[
          { id: 'conversations', label: t('words.conversations'), panel: () => <ConversationTable /> },
          { id: 'sessions', label: t('chat.sessions'), panel: () => <SessionTable /> },
        ]}
      />
    </>
  );
}

function NoChat() {
  const { environment } = useProject();
  const conversation = `curl -s -X POST ${location.origin}/v1/chat/conversations \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"name":"general","members":["ada"]}'`;
  const token = `curl -s -X POST ${location.origin}/v1/chat/tokens \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"userId":"ada","conversations":["general"]}'`;
  return (
    <EmptyState title={t('chat.none', { environment: environmentName(environment) })}>
      <p>{t('chat.backendCreates')}</p>
      <Snippet label={t('chat.createOne')} code={conversation} />
      <Snippet label={t('chat.mintOne')} code={token} />
    </EmptyState>
  );
}
