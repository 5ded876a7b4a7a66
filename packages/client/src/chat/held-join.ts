import { countHolds, hold } from '../holds.ts';
import type { Chat } from './chat.ts';
import type { Conversation } from './conversation-types.ts';

export interface HeldConversation {
  conversation: Conversation;
  /** Leaves it, unless another component or chat store holds it too, or the application joined it by itself. */
  release(): void;
  /** It would stay joined after a release. */
  isHeldElsewhere(): boolean;
}

/** When each conversation was left last, as a count of all leaves. */
const leaves = new WeakMap<Chat, Map<string, number>>();
let count = 0;

const isOwn = (chat: Chat, id: string): boolean => chat.joined.get(id)?.isShared === false;

function leave(chat: Chat, conversation: Conversation): void {
  if (isOwn(chat, conversation.id)) return;
  count += 1;
  leaves.set(chat, (leaves.get(chat) ?? new Map<string, number>()).set(conversation.id, count));
  void conversation.leave();
}

/** Counted by id: after a lost membership the same conversation is another object. */
export async function joinHeld(chat: Chat, ref: string): Promise<HeldConversation> {
  const asked = count;
  const conversation = await chat.join(ref, { isShared: true });
  const { id } = conversation;
  const release = hold(chat, id, () => leave(chat, conversation));
  try {
    // The last holder left it while this join was under way: the server has ended what it had just confirmed.
    if ((leaves.get(chat)?.get(id) ?? 0) > asked) await chat.join(ref, { isShared: true });
  } catch (error) {
    release();
    throw error;
  }
  return { conversation, release, isHeldElsewhere: () => isOwn(chat, id) || countHolds(chat, id) > 1 };
}
