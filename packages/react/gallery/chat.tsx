import { ParleyError } from '@parley/client';
import type { Message } from '@parley/client/chat';
import type { ChatStore, ChatStoreState, ConversationEntry } from '@parley/client/chat-store';
import { Fragment, useState } from 'react';
import { Chat, ConversationList } from '../src/index.ts';
import { useMentions } from '../src/mentions/index.ts';
import type { Exhibit } from './gallery.ts';
import { type SampleOptions, sampleConversation } from './sample-conversation.ts';
import { sampleMessage, sampleMessages } from './sample-messages.ts';
import { sampleStore } from './sample-store.ts';
import { streamExhibits } from './stream.tsx';

const names: Readonly<Record<string, string>> = {
  me: 'Me',
  ada: 'Ada Lovelace',
  bob: 'Bob',
  cleo: 'Cleo',
  grace: 'Grace Hopper',
  omar: 'عمر',
};
const nameOf = (id: string): string => names[id] ?? id;

/** A script reaches the conversation by `window.sampleConversation`. */
function SampleChat({ error, ...options }: SampleOptions & { error?: { message: string } }) {
  const [conversation] = useState(() => sampleConversation(options));
  Object.assign(window, { sampleConversation: conversation });
  return (
    <div style={{ height: '100vh', maxHeight: 720 }}>
      <Chat
        conversation={conversation}
        userId="me"
        nameOf={nameOf}
        attachmentUrl={async () => 'javascript:document.title="run"'}
        error={error ?? null}
      />
    </div>
  );
}

/** As `chat`, with the members of the conversation to mention. */
function SampleMentions() {
  const [conversation] = useState(() =>
    sampleConversation({
      present: ['me', 'ada'],
      members: ['me', 'ada', 'bob', 'cleo', 'grace', 'omar'],
      messages: [
        sampleMessage(1, {
          text: 'Ask @Grace Hopper, she was there.',
          mentions: { users: ['grace'], here: false, all: false },
        }),
        sampleMessage(2, {
          text: '@Me and @bob: the tide is in.',
          mentions: { users: ['me', 'bob'], here: false, all: false },
        }),
        sampleMessage(3, {
          text: '@all: we meet at nine, see https://harbour.example/@me.',
          mentions: { users: [], here: false, all: true },
        }),
        sampleMessage(4, { text: '@ada is written, and not mentioned.', senderId: 'bob' }),
      ],
    }),
  );
  const mentions = useMentions(conversation, { userId: 'me', nameOf });
  Object.assign(window, { sampleConversation: conversation });
  return (
    <div style={{ height: '100vh', maxHeight: 720 }}>
      <Chat conversation={conversation} userId="me" nameOf={nameOf} mentions={mentions} />
    </div>
  );
}

const file = {
  id: 'a1',
  publicId: 'a1',
  conversationId: 'conv_sample',
  filename: 'tide-table-of-the-whole-year-for-every-harbour.pdf',
  mimeType: 'application/pdf',
  size: 482_113,
  status: 'READY',
  uploaderId: 'ada',
  metadata: {},
  checksum: null,
  createdAt: '2026-03-02T08:00:00Z',
  completedAt: null,
  messageId: null,
} as unknown as NonNullable<Message['attachment']>;

const reaction = (emoji: string, userIds: string[], reacted = false) => ({
  emoji,
  count: userIds.length,
  userIds,
  reacted,
});

const states: readonly Message[] = [
  sampleMessage(1, { text: 'Does anybody have the tide table for Monday?', replyCount: 2 }),
  sampleMessage(2, { text: 'I think the harbour office has one.' }),
  sampleMessage(3, { text: 'They do: https://harbour.example/tides?day=monday.', senderId: 'bob', edited: true }),
  sampleMessage(4, {
    text: null,
    attachment: file,
    attachments: [file, { ...file, id: 'second', filename: 'tide-tables-april.pdf' }],
    senderId: 'grace',
    replyTo: 'm1',
    threadRootId: 'm1',
  }),
  sampleMessage(5, {
    text: 'Perfect, thank you!',
    replyTo: 'm4',
    threadRootId: 'm1',
    reactions: [reaction('👍', ['bob', 'me'], true), reaction('🎉', ['grace'])],
  }),
  sampleMessage(6, { deleted: true, text: null, senderId: 'bob' }),
  sampleMessage(7, { text: 'مرحبا، هل الجدول جاهز؟', senderId: 'omar' }),
  sampleMessage(8, { text: 'I will be there at nine.\nBring the ropes.', senderId: 'me', clientMessageId: 'c8' }),
  sampleMessage(9, {
    text: 'And the lamp',
    senderId: 'me',
    clientMessageId: 'c9',
    id: null,
    seq: null,
    delivery: 'sending',
  }),
  sampleMessage(10, {
    text: 'And some tea',
    senderId: 'me',
    clientMessageId: 'c10',
    id: null,
    seq: null,
    delivery: 'queued',
  }),
  sampleMessage(11, {
    text: 'And a map of the whole coast',
    senderId: 'me',
    clientMessageId: 'c11',
    id: null,
    seq: null,
    delivery: 'failed',
  }),
];

const entry = (conversationRef: string, more: Partial<ConversationEntry>): ConversationEntry => ({
  conversationRef,
  conversationId: null,
  title: conversationRef,
  unread: 0,
  lastMessage: null,
  lastActivityAt: null,
  isPresent: false,
  mentions: 0,
  present: [],
  typing: [],
  draft: '',
  isLive: true,
  error: null,
  ...more,
});

const entries = [
  entry('Harbour crew', {
    unread: 3,
    mentions: 1,
    isPresent: true,
    lastActivityAt: Date.parse('2026-03-02T08:11:00Z'),
    lastMessage: sampleMessage(3, { text: 'They do: the harbour office prints them every morning.', senderId: 'bob' }),
  }),
  entry('Ada Lovelace', { draft: 'I will bring the', isPresent: true, lastActivityAt: Date.now() }),
  entry('Night watch', {
    unread: 240,
    lastActivityAt: Date.parse('2026-02-27T22:00:00Z'),
    lastMessage: sampleMessage(1, { deleted: true, text: null }),
  }),
  entry('A conversation with a name that is longer than any list is wide', {}),
];

function SampleList({ list, ...state }: { list: readonly ConversationEntry[] } & Partial<ChatStoreState>) {
  const [store] = useState(
    () =>
      // Only what the list uses of a store.
      ({
        conversations: sampleStore(list),
        state: sampleStore({ isLoading: false, error: null, ...state }),
      }) as unknown as ChatStore,
  );
  const [selected, select] = useState('Ada Lovelace');
  return (
    <div style={{ maxWidth: 360 }}>
      <ConversationList store={store} selected={selected} onSelect={select} nameOf={nameOf} />
    </div>
  );
}

const pagesOf = (count: number, size: number): (readonly Message[])[] =>
  Array.from({ length: count }, (_, at) => sampleMessages((count - at - 1) * size + 1, (count - at) * size));

const exhibits: readonly Exhibit[] = [
  {
    name: 'chat',
    element: () => (
      <SampleChat messages={states} present={['me', 'ada', 'bob']} typing={['ada', 'bob']} read={{ ada: 3, bob: 8 }} />
    ),
  },
  { name: 'chat-mentions', element: () => <SampleMentions /> },
  { name: 'chat-empty', element: () => <SampleChat present={['me']} /> },
  { name: 'chat-joining', element: () => <Chat conversation={null} userId="me" /> },
  {
    name: 'chat-error',
    element: () => (
      <SampleChat messages={states.slice(0, 3)} error={{ message: 'The conversation cannot be joined.' }} />
    ),
  },
  {
    name: 'chat-unread',
    element: () => (
      <SampleChat messages={sampleMessages(1, 60)} firstUnread={{ id: 'm22', count: 39 }} present={['me', 'grace']} />
    ),
  },
  {
    name: 'chat-unread-far',
    element: () => <SampleChat pages={pagesOf(30, 50)} firstUnread={{ id: 'm10', count: 1490 }} present={['me']} />,
  },
  { name: 'chat-pages', element: () => <SampleChat pages={pagesOf(8, 50)} present={['me', 'grace']} /> },
  { name: 'conversations', element: () => <SampleList list={entries} /> },
  { name: 'conversations-empty', element: () => <SampleList list={[]} /> },
  { name: 'conversations-loading', element: () => <SampleList list={[]} isLoading /> },
  {
    name: 'conversations-error',
    element: () => (
      <SampleList list={[]} error={new ParleyError({ code: 'unexpected', message: 'The list was not read.' })} />
    ),
  },
];

/** Under a key each: the conversation of one is not that of another. */
export const chatExhibits: readonly Exhibit[] = [...exhibits, ...streamExhibits].map(({ name, element }) => ({
  name,
  element: () => <Fragment key={name}>{element()}</Fragment>,
}));

/** Every seventh answers one of long ago. */
const withAnswers = (messages: readonly Message[]): readonly Message[] =>
  messages.map((message, at) => {
    const replyTo = at % 7 === 0 ? (messages[at - 40_000]?.id ?? null) : null;
    return replyTo === null ? message : { ...message, replyTo };
  });

/** Shown only alone: it would make the whole page slow. */
export const chatAlone: readonly Exhibit[] = [
  {
    name: 'chat-100000',
    element: () => <SampleChat messages={withAnswers(sampleMessages(1, 100_000))} present={['me', 'grace']} />,
  },
];
