import type { RoomDetail } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ConversationFacts, NeverContent } from '../chat/conversation-facts.tsx';
import { conversationQuery } from '../chat/queries.ts';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { t } from '../i18n/t.ts';
import { Snippet } from '../kit/copy.tsx';
import { EmptyState } from '../kit/empty-state.tsx';

/** The conversation beside the call, if there is one. */
export function RoomConversation({ room }: { room: RoomDetail }) {
  return room.conversationId === null ? (
    <NoConversation room={room} />
  ) : (
    <Attached conversationId={room.conversationId} />
  );
}

function Attached({ conversationId }: { conversationId: string }) {
  const { project, environment, to } = useProject();
  const query = useQuery(conversationQuery(useApi(), project.id, environment, conversationId));
  return (
    <QueryView query={query}>
      {(conversation) => (
        <section className="panel stack" aria-labelledby="conversation">
          <h2 id="conversation">
            <Link href={to(`chat/${conversation.id}`)}>{conversation.name}</Link>
          </h2>
          <ConversationFacts conversation={conversation} />
          <NeverContent />
        </section>
      )}
    </QueryView>
  );
}

function NoConversation({ room }: { room: RoomDetail }) {
  const code = `curl -s -X POST ${location.origin}/v1/chat/conversations \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"name":"${room.name}","roomId":"${room.id}"}'`;
  return (
    <EmptyState title={t('rooms.noConversation')}>
      <p>{t('rooms.conversationFound')}</p>
      <Snippet label={t('rooms.attach')} code={code} />
    </EmptyState>
  );
}
