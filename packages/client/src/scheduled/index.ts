import type { ForwardDraft, MentionsDraft, PollDraft, ScheduledMessage } from '@parley/contract/types.gen';
import type { Chat } from '../chat/index.ts';
import { createPart } from '../chat/part.ts';
import { type Page, type PageOptions, pathOf } from '../http.ts';

export type { ForwardDraft, PollDraft, ScheduledMessage } from '@parley/contract/types.gen';

export interface NewScheduled {
  /** A message has a text, files, a poll, or forwards another. */
  text?: string;
  /** Up to 30 days ahead. */
  sendAt: Date;
  replyTo?: string;
  /** What `upload` of the conversation gave; kept until a day after `sendAt`. */
  attachmentIds?: string[];
  poll?: PollDraft;
  /** As it is when it is sent; the right to read it is asked for now, and again then. */
  forward?: ForwardDraft;
  mentions?: MentionsDraft;
  metadata?: Record<string, unknown>;
}

export type ScheduledChange = Partial<Pick<NewScheduled, 'text' | 'sendAt' | 'mentions' | 'metadata'>>;

/** Messages that are sent later, by the server. */
export interface Scheduled {
  create(conversationId: string, message: NewScheduled): Promise<ScheduledMessage>;
  /** Those of this user that are not sent, soonest first, and those that failed. */
  list(conversationId: string, options?: PageOptions): Promise<Page<ScheduledMessage>>;
  /** A failed one waits again. */
  update(id: string, change: ScheduledChange): Promise<ScheduledMessage>;
  cancel(id: string): Promise<void>;
}

export function createScheduled(chat: Chat): Scheduled {
  const { http } = createPart(chat, () => {});
  const path = (id: string): string => `/v1/chat/scheduled/${encodeURIComponent(id)}`;
  const timed = ({ sendAt }: { sendAt?: Date }): object => (sendAt ? { sendAt: sendAt.toISOString() } : {});
  return {
    create: async (conversationId, message) => {
      const body = { ...message, ...timed(message) };
      return (await http.call('POST', `${pathOf(conversationId)}/scheduled`, { body })) as ScheduledMessage;
    },
    list: (conversationId, options) => http.page(`${pathOf(conversationId)}/scheduled`, options),
    update: async (id, change) =>
      (await http.call('PATCH', path(id), { body: { ...change, ...timed(change) } })) as ScheduledMessage,
    cancel: async (id) => void (await http.call('DELETE', path(id))),
  };
}
