import type { ConversationOverview } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { useParams } from 'wouter';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { useAnnounced } from '../kit/live.tsx';
import { Tabs } from '../kit/tabs.tsx';
import { ConversationSanctions } from '../moderation/conversation-sanctions.tsx';
import { t } from '../moderation/texts.ts';
import { ConversationFacts } from './conversation-facts.tsx';
import { MemberTable } from './member-table.tsx';
import { MessageTable } from './message-table.tsx';
import { PresenceTable } from './presence-table.tsx';
import { conversationQuery } from './queries.ts';
import { ConversationBadge } from './words.tsx';

export default function ConversationPage() {
  const { conversationId = '' } = useParams<{ conversationId: string }>();
  const { project, environment } = useProject();
  const query = useQuery(conversationQuery(useApi(), project.id, environment, conversationId));
  const conversation = query.data;
  return (
    <Page
      title={conversation?.name ?? t('rooms.conversation')}
      query={query}
      aside={conversation && <ConversationBadge status={conversation.status} />}
      lead={t('chat.never')}
    >
      <QueryView query={query}>{(found) => <ConversationBody conversation={found} />}</QueryView>
    </Page>
  );
}

function ConversationBody({ conversation }: { conversation: ConversationOverview }) {
  useAnnounced(t('chat.messages', { count: conversation.messageCount }));
  const { id } = conversation;
  return (
    <>
      <section className="panel" aria-label={t('chat.aboutConversation')}>
        <ConversationFacts conversation={conversation} />
      </section>
      <Tabs
        label={t('rooms.conversation')}
        tabs={[
          { id: 'members', label: t('words.members'), panel: () => <MemberTable conversationId={id} /> },
          { id: 'messages', label: t('words.messages'), panel: () => <MessageTable conversationId={id} /> },
          { id: 'presence', label: t('chat.presence'), panel: () => <PresenceTable conversationId={id} /> },
          {
            id: 'sanctions',
            label: t('moderation.sanctions'),
            panel: () => <ConversationSanctions conversationId={id} />,
          },
        ]}
      />
    </>
  );
}
