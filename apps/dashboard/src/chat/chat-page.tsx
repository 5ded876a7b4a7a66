import type { ChatOverview } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { Chart } from '../kit/chart.tsx';
import { Snippet } from '../kit/copy.tsx';
import { EmptyState } from '../kit/empty-state.tsx';
import { Figures } from '../kit/figure.tsx';
import { count, plural } from '../kit/numbers.ts';
import { Tabs } from '../kit/tabs.tsx';
import { ConversationTable } from './conversation-table.tsx';
import { chatOverviewQuery } from './queries.ts';
import { SessionTable } from './session-table.tsx';

export default function ChatPage() {
  const { project, environment } = useProject();
  const query = useQuery(chatOverviewQuery(useApi(), project.id, environment));
  return (
    <Page title="Chat" query={query} lead="Who talks where, and how much. Message content is never available here.">
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
        label="Chat"
        figures={[
          {
            label: 'Conversations',
            value: count(conversations.total),
            note: `${count(conversations.active)} active, ${count(conversations.archived)} archived`,
          },
          { label: 'Members', value: count(members), note: 'over all conversations' },
          {
            label: 'Messages, 24 h',
            value: count(messages.last24h),
            note: `${count(messages.last7d)} in 7 days, ${count(messages.total)} in all`,
          },
          {
            label: 'Open sessions',
            value: count(connections.active),
            note: `${plural(reactions, 'reaction')}, ${plural(attachments, 'attachment')}`,
          },
        ]}
      />
      <Chart
        title="Messages per hour, last 24 hours"
        kind="bars"
        series={['Messages']}
        format={count}
        points={overview.hours.map((hour) => ({ at: hour.at, values: [hour.messages] }))}
      />
      <Tabs
        label="Chat"
        tabs={[
          { id: 'conversations', label: 'Conversations', panel: () => <ConversationTable /> },
          { id: 'sessions', label: 'Sessions', panel: () => <SessionTable /> },
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
    <EmptyState title={`No conversation in ${environment.toLowerCase()} yet`}>
      <p>Your backend creates conversations and mints a token for each user; their clients do the rest.</p>
      <Snippet label="1. Create a conversation" code={conversation} />
      <Snippet label="2. Mint a chat token" code={token} />
    </EmptyState>
  );
}
