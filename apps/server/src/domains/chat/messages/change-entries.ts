import type { Conversation, ConversationMember, Message } from '@parley/contract';
import type { StoredEvent } from '../../../core/event-store.ts';
import type { ChangeEntry } from '../live/channel.ts';
import { fitting, recordBytesMax } from '../live/frame-size.ts';

/** A message whose JSON is there already. */
export type MessageRecord = Pick<Message, 'id' | 'seq' | 'senderId'> & { record: string };

/** A change as `changes` and the live frames show it. */
interface ChangeObject {
  type: string;
  conversationId: string;
  change: number;
  message?: Message | MessageRecord;
  member?: ConversationMember;
  conversation?: Conversation;
  [field: string]: unknown;
}

export function entryOf({ message, ...change }: ChangeObject, at: number): ChangeEntry {
  const { type, conversationId, member, conversation } = change;
  const role = type === 'member.removed' ? null : member?.role;
  return {
    conversationId,
    change: change.change,
    type,
    at,
    body: JSON.stringify(change),
    ...(message
      ? { messageId: message.id, message: recordOf(message), seq: message.seq, senderId: message.senderId }
      : {}),
    ...(conversation ? { status: conversation.status, name: conversation.name } : {}),
    ...(member && role !== undefined ? { userId: member.userId, role } : {}),
  };
}

function recordOf(message: Message | MessageRecord): string {
  if ('record' in message) return message.record;
  const record = JSON.stringify(message);
  // No character takes more than three bytes for its length.
  return record.length <= recordBytesMax / 3 ? record : JSON.stringify(fitting(message, recordBytesMax));
}

/** Which event makes which frame. Events that are no numbered change of a conversation have none. */
const frameTypes: Readonly<Record<string, string>> = {
  'message.created': 'message',
  'message.updated': 'message.updated',
  'message.deleted': 'message.deleted',
  'reaction.added': 'reaction.added',
  'reaction.removed': 'reaction.removed',
  'member.added': 'member.added',
  'member.removed': 'member.removed',
  'member.updated': 'member.updated',
  'conversation.updated': 'conversation.updated',
  'conversation.deleted': 'conversation.deleted',
};

const frameFields = ['message', 'member', 'conversation'] as const;

/** A recorded event as the change its subscribers hear, or null. */
export function entryOfEvent(event: StoredEvent, at: number): ChangeEntry | null {
  const type = frameTypes[event.type];
  if (type === undefined) return null;
  // The event table says what each of these types carries.
  const data = event.data as ChangeObject;
  const { conversationId, change } = data;
  if (type.startsWith('reaction.')) {
    const { messageId, userId, emoji, count } = data;
    return entryOf({ type, conversationId, change, messageId, userId, emoji, count }, at);
  }
  const shown = frameFields.filter((name) => data[name] !== undefined).map((name) => [name, data[name]]);
  return entryOf({ type, conversationId, change, ...Object.fromEntries(shown) }, at);
}

/** Changes read from the store. */
export const entriesOfJson = (text: string, at: number): ChangeEntry[] =>
  (JSON.parse(text) as ChangeObject[]).map((change) => entryOf(change, at));
