import type { Conversation, Message } from '@parley/client/chat';
import { useEffect, useMemo, useState } from 'react';
import type { ChatMentions } from '../chat/context.ts';
import { useLatest } from '../hooks/use-latest.ts';
import { sameName } from '../shared/names.ts';
import { mentionsIn, type Nameable, withMentions, withOwnNames } from './names.ts';

export interface MentionsOptions {
  /** This user. */
  userId: string;
  /** Default: the id itself. */
  nameOf?: (userId: string) => string;
  /** The words after an @ for everybody, and for those who are there. Default `all` and `here`. */
  words?: { all: string; here: string };
}

interface Member {
  userId: string;
  role: string;
}

const NOBODY: readonly Member[] = [];
const WORDS = { all: 'all', here: 'here' } as const;
/** In larger conversations those who joined first are offered. */
const PAGES_MAX = 5;
const MAY_MENTION_MANY = /^(?:MODERATOR|ADMIN|OWNER)$/;

/** For `<Chat mentions>`: members can be mentioned, the message says whom, and mentions stand out in what is read. */
export function useMentions(conversation: Conversation | null, options: MentionsOptions): ChatMentions {
  const { userId, nameOf = sameName, words = WORDS } = options;
  const members = useMembers(conversation);
  const name = useLatest(nameOf);
  const { all, here } = words;
  return useMemo(() => {
    const users = members.map((one): Nameable => ({ name: name.current(one.userId), userId: one.userId }));
    const many: Nameable[] = [
      { name: all, userId: null, isFor: 'all' },
      { name: here, userId: null, isFor: 'here' },
    ];
    const isAllowed = members.some((one) => one.userId === userId && MAY_MENTION_MANY.test(one.role));
    const known = withOwnNames([...users, ...many]);
    const offered = known.filter((one) => (one.userId === null ? isAllowed : one.userId !== userId));
    return {
      names: offered.map((one) => one.name),
      of: (text: string) => mentionsIn(text, offered),
      show: (text: string, message: Message) =>
        withMentions(text, message, known).map((part, index) =>
          index % 2 === 0 ? (
            part
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no other name.
            <mark key={index} className="parley-mention" data-mine={isMine(part.slice(1), known) || undefined}>
              {part}
            </mark>
          ),
        ),
    };
    function isMine(written: string, people: readonly Nameable[]): boolean {
      const one = people.find((person) => person.name.toLocaleLowerCase() === written.toLocaleLowerCase());
      return one !== undefined && (one.userId === null || one.userId === userId);
    }
  }, [members, userId, all, here]);
}

/** The members of a conversation, read again with each connection. */
function useMembers(conversation: Conversation | null): readonly Member[] {
  const [members, setMembers] = useState(NOBODY);
  useEffect(() => {
    let isOver = false;
    setMembers(NOBODY);
    if (!conversation) return;
    const read = async (): Promise<void> => {
      const all: Member[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < PAGES_MAX; page++) {
        const { items, nextCursor } = await conversation.members({
          limit: 200,
          ...(cursor === null ? {} : { cursor }),
        });
        all.push(...items);
        cursor = nextCursor;
        if (cursor === null) break;
      }
      if (!isOver) setMembers(all);
    };
    // Without them nobody is offered; the next connection tries again.
    const readQuietly = (): void => void read().catch(() => {});
    readQuietly();
    const stop = conversation.on('connectionStateChanged', (state) => state === 'connected' && readQuietly());
    return () => {
      isOver = true;
      stop();
    };
  }, [conversation]);
  return members;
}
