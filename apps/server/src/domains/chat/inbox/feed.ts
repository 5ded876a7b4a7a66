import type { ProjectScope } from '../../../core/caller.ts';
import type { Clock } from '../../../core/clock.ts';
import { createCoalescer } from '../../../core/coalescer.ts';
import type { Bus } from '../../../core/ports.ts';
import { type Interest, keyOf } from './interest.ts';

/** Who is to be told of a conversation: everybody in it, and these besides. */
export interface Concerned {
  isForAll: boolean;
  userIds: string[];
}

/** What travels between processes, on the topic of an environment. */
export type InboxMessage =
  | { changed: [conversationId: string, concerned: Concerned][] }
  | { typing: TypingNote; except?: string };

export interface TypingNote {
  conversationId: string;
  userId: string;
  typing: boolean;
  expiresAt: string | null;
}

interface FeedDeps {
  bus: Bus;
  clock: Clock;
  interest: Interest;
}

/** Says which conversations changed, to processes in which somebody follows an inbox of the environment. */
export type InboxFeed = ReturnType<typeof createInboxFeed>;

export const inboxTopicOf = (key: string): string => `inbox/${key}`;

/** What comes while an environment rests is one message at its end, and each conversation in it once. */
const restMs = 250;

export function createInboxFeed({ bus, clock, interest }: FeedDeps) {
  const stopping = new AbortController();
  const coalescer = createCoalescer<string, Map<string, { isForAll: boolean; userIds: Set<string> }>>({
    newPending: () => new Map(),
    publish(key, changed) {
      const message: InboxMessage = {
        changed: [...changed].map(([id, { isForAll, userIds }]) => [id, { isForAll, userIds: [...userIds] }]),
      };
      bus.publish(inboxTopicOf(key), message);
    },
    rest: () => clock.sleep(restMs, stopping.signal),
    first: 'atEndOfTurn',
  });

  return {
    /** A change of a conversation that its members' inboxes show, or of what is one member's own in it. */
    note(scope: ProjectScope, conversationId: string, userId?: string): void {
      if (!interest.isWanted(scope)) return;
      coalescer.note(keyOf(scope), (changed) => {
        const concerned = changed.get(conversationId) ?? { isForAll: false, userIds: new Set<string>() };
        changed.set(conversationId, concerned);
        if (userId === undefined) concerned.isForAll = true;
        else concerned.userIds.add(userId);
      });
    },
    /** Not stored, and not repeated. */
    typing(scope: ProjectScope, typing: TypingNote, except?: string): void {
      if (!interest.isWanted(scope)) return;
      const message = { typing, ...(except === undefined ? {} : { except }) } satisfies InboxMessage;
      bus.publish(inboxTopicOf(keyOf(scope)), message);
    },
    stop: (): void => stopping.abort(),
  };
}
