import type { Conversation, ConversationMember, Message, MessagePage, NewMessage } from '@parley/client/chat';
import { sampleMessage } from './sample-messages.ts';
import { type SampleStore, sampleStore } from './sample-store.ts';

export interface SampleOptions {
  /** Loaded from the start. */
  messages?: readonly Message[];
  /** Pages of older messages, from the newest on. */
  pages?: (readonly Message[])[];
  typing?: readonly string[];
  present?: readonly string[];
  /** The first of them is a moderator. */
  members?: readonly string[];
  /** Who has read up to which `seq`. */
  read?: Readonly<Record<string, number>>;
  firstUnread?: { id: string; count: number };
}

export interface SampleConversation extends Conversation {
  readonly messages: SampleStore<readonly Message[]>;
  /** As if somebody else had sent it. */
  receive(more: Partial<Message>): void;
  /** As if the server had said so. */
  emit(event: string, fact: object): void;
  /** How often the replies of a thread were read. */
  threadReads: number;
}

const sampleMember = (userId: string, at: number): ConversationMember => ({
  userId,
  role: at === 0 ? 'MODERATOR' : 'MEMBER',
  metadata: {},
  active: true,
  joinedAt: '2026-03-02T08:00:00Z',
  removedAt: null,
  lastReadMessageId: null,
  lastReadAt: null,
});

const never = new Promise<never>(() => {});
const done = (): Promise<void> => Promise.resolve();

/** A conversation without a server: what is done to it shows, and goes nowhere. */
export function sampleConversation(options: SampleOptions = {}): SampleConversation {
  const messages = sampleStore<readonly Message[]>(options.messages ?? []);
  const pages = [...(options.pages ?? [])];
  let sent = 0;
  const change = (id: string, part: (message: Message) => Partial<Message>): Promise<void> => {
    messages.set(messages.getSnapshot().map((one) => (one.id === id ? { ...one, ...part(one) } : one)));
    return done();
  };
  const nextSeq = (): number => (messages.getSnapshot().findLast(({ seq }) => seq !== null)?.seq ?? 0) + 1;
  const add = (more: Partial<Message>): Message => {
    const message = sampleMessage(nextSeq(), { createdAt: new Date().toISOString(), ...more });
    messages.set([...messages.getSnapshot(), message]);
    return message;
  };
  const readPage = async (): Promise<MessagePage> => {
    const items = pages.shift() ?? [];
    if (items.length > 0) messages.set([...items, ...messages.getSnapshot()]);
    return { items, nextCursor: pages.length > 0 ? 'older' : null, latestCursor: null };
  };
  const present = (options.present ?? []).map((userId) => ({ userId, status: 'ONLINE' as const }));
  const receipts = Object.entries(options.read ?? {}).map(([userId, lastReadSeq]) => ({
    userId,
    lastReadMessageId: `m${lastReadSeq}`,
    lastReadSeq,
    lastReadAt: null,
    lastDeliveredSeq: null,
    lastDeliveredAt: null,
  }));
  const listeners = new Map<string, Set<(fact: object) => void>>();
  const conversation: SampleConversation = {
    threadReads: 0,
    emit(event, fact) {
      for (const listener of listeners.get(event) ?? []) listener(fact);
    },
    id: 'conv_sample',
    messages,
    typing: sampleStore(options.typing ?? []),
    on(event: string, listener: never) {
      const heard = listeners.get(event) ?? new Set();
      listeners.set(event, heard.add(listener));
      return () => void heard.delete(listener);
    },
    once: () => never,
    receive: (more) => conversation.emit('message', add(more)),
    async send(given: string | NewMessage) {
      const { poll: _poll, ...draft } = typeof given === 'string' ? { text: given } : given;
      const clientMessageId = `sent-${++sent}`;
      const mentions = draft.mentions ? { users: [], here: false, all: false, ...draft.mentions } : null;
      const own = { text: null, ...draft, mentions, senderId: 'me', clientMessageId };
      const stored = sampleMessage(nextSeq(), { ...own, createdAt: new Date().toISOString() });
      const before = messages.getSnapshot();
      messages.set([...before, { ...stored, id: null, seq: null, delivery: 'sending' }]);
      setTimeout(() => messages.set([...before, stored]), 100);
      return stored;
    },
    retry: () => never,
    discard: () => {},
    edit: (id, patch) => change(id, () => ({ ...(typeof patch === 'string' ? { text: patch } : patch), edited: true })),
    remove: (id) => change(id, () => ({ deleted: true, text: null })),
    react: (id, emoji) =>
      change(id, ({ reactions }) => ({
        reactions: [...reactions, { emoji, count: 1, userIds: ['me'], reacted: true }],
      })),
    unreact: (id, emoji) =>
      change(id, ({ reactions }) => ({ reactions: reactions.filter((one) => one.emoji !== emoji) })),
    markRead: done,
    setTyping: () => {},
    history: (filter) => {
      const replies = messages.getSnapshot().filter(({ threadRootId }) => threadRootId === filter?.threadRootId);
      return {
        // biome-ignore lint/suspicious/noThenProperty: as the SDK's own, `await` gives one page.
        then: (onPage, onError) => readPage().then(onPage, onError),
        async *[Symbol.asyncIterator]() {
          conversation.threadReads++;
          yield* replies;
        },
      };
    },
    presence: async () => present as never,
    readState: async () => ({
      userId: 'me',
      lastReadMessageId: null,
      lastReadSeq: null,
      lastReadAt: null,
      unreadCount: options.firstUnread?.count ?? 0,
      firstUnreadMessageId: options.firstUnread?.id ?? null,
    }),
    readReceipts: async () => ({ items: receipts, nextCursor: null }),
    members: async () => ({ items: (options.members ?? []).map(sampleMember), nextCursor: null }),
    // Half of a file, and no more.
    upload: (_file, { onProgress } = {}) => {
      onProgress?.(0.5, { loaded: 1, total: 2 });
      return never;
    },
    leave: done,
  };
  return conversation;
}
