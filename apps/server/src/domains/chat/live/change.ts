import type {
  ChatMemberRole,
  Conversation,
  ConversationMember,
  ConversationStatus,
  Message,
  ReactionSummary,
} from '@parley/contract';
import { frameText, type SocketFrame } from '../../../core/socket.ts';

/** The topic of a conversation: on the bus, and of its events in the store. */
export const topicOf = (publicId: string): string => `chat/${publicId}`;

/** One numbered change of a conversation, ready to be sent: what the live frame says, without its time. */
export interface ChangeEntry {
  conversationId: string;
  change: number;
  type: string;
  /** The change as a JSON object; of messages without the record. */
  body: string;
  /** Of messages: which, and its record as JSON. */
  messageId?: string;
  message?: string;
  /** When it became known here. */
  at: number;
  /** Of messages: position in the conversation and author. */
  seq?: number;
  senderId?: string | null;
  /** Of member changes: who, and as what; null for a member who was removed. */
  userId?: string;
  role?: ChatMemberRole | null;
  /** Of changes of the conversation itself. */
  status?: ConversationStatus;
  name?: string;
}

/** A message that is JSON already. */
type MessageRecord = Pick<Message, 'id' | 'seq' | 'senderId'> & { record: string };

/** What a change is about, as far as it carries it whole. */
export interface ChangeSubject {
  conversationId: string;
  change: number;
  message?: Message | MessageRecord;
  member?: ConversationMember;
  conversation?: Conversation;
}

/** A change as `changes` and the live frames show it. */
interface ChangeObject extends ChangeSubject {
  type: string;
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

/** Changes read from the store. */
export const entriesOfJson = (text: string, at: number): ChangeEntry[] =>
  (JSON.parse(text) as ChangeObject[]).map((change) => entryOf(change, at));

/** The change as a JSON object. */
export const jsonOf = ({ body, message }: ChangeEntry): string =>
  message === undefined ? body : `${body.slice(0, -1)},"message":${message}}`;

/** A whole frame out of a change: its time is when it is sent. */
export const liveFrame = (entry: ChangeEntry, ts: number): SocketFrame =>
  frameText(`${jsonOf(entry).slice(0, -1)},"ts":${ts}}`);

/** What a record may take of a frame of 65536 bytes. */
export const recordBytesMax = 60_000;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

interface Fittable {
  reactions: readonly ReactionSummary[];
  attachments?: readonly object[];
}

/**
 * A record as a frame can carry it; only reactions and many files can make one larger. The users who reacted go first,
 * then the latest emoji, then all files but the first: REST has them all.
 */
export function fitting<T extends Fittable>(record: T, bytesMax: number): T {
  let over = bytesOf(record) - bytesMax;
  if (over <= 0) return record;
  const reactions = record.reactions.map((one) => ({ ...one, userIds: [] }));
  over -= bytesOf(record.reactions) - bytesOf(reactions);
  while (over > 0 && reactions.length > 0) over -= bytesOf(reactions.pop()) + 1;
  const fitted: T = { ...record, reactions };
  if (over > 0) delete fitted.attachments;
  return fitted;
}

/** The JSON of a page of history or changes, each of its records made to fit. */
export function fittingPage(text: string, recordMax: number): string {
  // The store wrote it.
  const { messages, changes, ...rest } = JSON.parse(text) as {
    messages?: Message[];
    changes?: { message?: Message }[];
  };
  return JSON.stringify({
    messages: messages?.map((one) => fitting(one, recordMax)),
    changes: changes?.map((one) => (one.message ? { ...one, message: fitting(one.message, recordMax) } : one)),
    ...rest,
  });
}
