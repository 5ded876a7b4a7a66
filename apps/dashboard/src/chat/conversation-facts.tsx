import type { ConversationOverview } from '@parley/contract';
import { Link } from 'wouter';
import { useProject } from '../frame/project.tsx';
import { t } from '../i18n/t.ts';
import { CopyId } from '../kit/copy.tsx';
import { Facts } from '../kit/facts.tsx';
import { count } from '../kit/numbers.ts';
import { Ago, Time } from '../kit/time.tsx';
import { partsOf } from './conversation-parts.tsx';
import { retentionWords, typeWord } from './words.tsx';

/** What is known of a conversation without reading it. */
export function ConversationFacts({ conversation }: { conversation: ConversationOverview }) {
  const { to } = useProject();
  const { roomId, liveStreamId, lastMessageAt, archivedAt } = conversation;
  return (
    <Facts
      rows={[
        [t('words.id'), <CopyId key="id" id={conversation.id} label={t('chat.copyConversationId')} />],
        [t('words.type'), typeWord(conversation.type)],
        [t('words.members'), count(conversation.memberCount)],
        [t('words.messages'), count(conversation.messageCount)],
        [
          t('chat.lastMessage'),
          lastMessageAt === null ? (
            <span key="l" className="no-data">
              {t('chat.noneYet')}
            </span>
          ) : (
            <Ago key="l" at={lastMessageAt} />
          ),
        ],
        ...partsOf(conversation),
        [t('chat.kept'), retentionWords(conversation)],
        ...(roomId === null
          ? []
          : ([
              [
                t('words.room'),
                <Link key="r" className="mono" href={to(`rooms/${roomId}`)}>
                  {roomId}
                </Link>,
              ],
            ] as const)),
        ...(liveStreamId === null
          ? []
          : ([
              [
                t('chat.liveStream'),
                <Link key="s" className="mono" href={to(`live-streams/${liveStreamId}`)}>
                  {liveStreamId}
                </Link>,
              ],
            ] as const)),
        [t('words.created'), <Time key="c" at={conversation.createdAt} />],
        ...(archivedAt === null ? [] : ([[t('words.archived'), <Time key="a" at={archivedAt} />]] as const)),
      ]}
    />
  );
}

/** Said wherever messages are counted or listed. */
export const NeverContent = () => <p className="muted">{t('chat.never')}</p>;
