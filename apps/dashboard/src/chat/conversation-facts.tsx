import type { Conversation } from '@parley/contract';
import { Link } from 'wouter';
import { useProject } from '../frame/project.tsx';
import { CopyId } from '../kit/copy.tsx';
import { Facts } from '../kit/facts.tsx';
import { count } from '../kit/numbers.ts';
import { Ago, Time } from '../kit/time.tsx';
import { retentionWords, typeWords } from './words.tsx';

/** What is known of a conversation without reading it. */
export function ConversationFacts({ conversation }: { conversation: Conversation }) {
  const { to } = useProject();
  const { roomId, liveStreamId, lastMessageAt, archivedAt } = conversation;
  return (
    <Facts
      rows={[
        ['Id', <CopyId key="id" id={conversation.id} label="Copy conversation id" />],
        ['Type', typeWords[conversation.type]],
        ['Members', count(conversation.memberCount)],
        ['Messages', count(conversation.messageCount)],
        [
          'Last message',
          lastMessageAt === null ? (
            <span key="l" className="no-data">
              None yet
            </span>
          ) : (
            <Ago key="l" at={lastMessageAt} />
          ),
        ],
        ['Kept', retentionWords(conversation)],
        ...(roomId === null
          ? []
          : ([
              [
                'Room',
                <Link key="r" className="mono" href={to(`rooms/${roomId}`)}>
                  {roomId}
                </Link>,
              ],
            ] as const)),
        ...(liveStreamId === null
          ? []
          : ([
              [
                'Live stream',
                <Link key="s" className="mono" href={to(`live-streams/${liveStreamId}`)}>
                  {liveStreamId}
                </Link>,
              ],
            ] as const)),
        ['Created', <Time key="c" at={conversation.createdAt} />],
        ...(archivedAt === null ? [] : ([['Archived', <Time key="a" at={archivedAt} />]] as const)),
      ]}
    />
  );
}

/** Said wherever messages are counted or listed. */
export const NeverContent = () => <p className="muted">Message content is never available here.</p>;
