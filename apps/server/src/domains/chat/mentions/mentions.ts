import { fail, type Mentions, type MentionsDraft, roleCan } from '@parley/contract';
import type { Tx } from '../../../core/db.ts';
import { refuse } from '../../../core/validation.ts';
import type { ConversationEntry } from '../conversations/conversation-store.ts';
import type { PresenceOf } from '../live/presence.ts';
import { findMentionState, type StoredMentions } from './mention-store.ts';

/** More are as good as everybody: `here` then counts for all members. */
const presentMax = 1_000;

export type MentionsOf = ReturnType<typeof createMentions>;

export function createMentions({ presence }: { presence: Pick<PresenceOf, 'users'> }) {
  /** A draft with those it means by `here`; null for one that mentions nobody. */
  async function resolve(
    draft: MentionsDraft,
    conversationId: string,
    senderId: string | null | undefined,
  ): Promise<StoredMentions | null> {
    const mentions = normalised(draft);
    if (!mentions?.here || mentions.all) return mentions;
    const present = await presence.users(conversationId);
    if (present.length > presentMax) return mentions;
    return { ...mentions, present: present.filter((userId) => userId !== senderId) };
  }

  /** Under the conversation's lock: what an edit makes of a message's mentions, and whom of them it did not have. */
  async function replaced(
    tx: Tx,
    entry: Pick<ConversationEntry, 'id' | 'role'>,
    position: number,
    wanted: StoredMentions | null,
  ): Promise<{ mentions: StoredMentions | null; added: Mentions | null }> {
    const { type, before, members } = await findMentionState(tx, entry.id, position, wanted?.users ?? []);
    if (wanted === null) return { mentions: null, added: null };
    const isForMore = (wanted.all && !before?.all) || (wanted.here && !before?.here);
    if (isForMore && type !== 'DIRECT' && entry.role && !roleCan(entry.role, 'mentionAll')) failForMany();
    const known = new Map(members.map(({ userId, active }) => [userId, active]));
    const nonMembers = wanted.users.filter((userId) => !known.has(userId));
    if (nonMembers.length > 0) failForNonMembers(nonMembers);
    const users = wanted.users.filter((userId) => known.get(userId));
    const mentions = isEmpty({ ...wanted, users }) ? null : { ...wanted, users };
    return { mentions, added: mentions && addedTo(before, mentions) };
  }

  return { resolve, replaced };
}

/** For a caller whose role is too low. */
export const failForMany = (): never =>
  fail('SVC_FORBIDDEN', { message: 'Your role in this conversation does not allow to mention here or all.' });

export function failForNonMembers(nonMembers: readonly string[]): never {
  const message = (userId: string): string => `mentions.users: ${userId} was never a member of this conversation.`;
  return refuse(nonMembers.map((userId) => ({ field: 'mentions.users', rule: 'member', message: message(userId) })));
}

const isEmpty = ({ users, here, all }: Mentions): boolean => users.length === 0 && !here && !all;

function normalised({ users = [], here = false, all = false }: MentionsDraft): Mentions | null {
  const mentions = { users: [...new Set(users)], here, all };
  return isEmpty(mentions) ? null : mentions;
}

/** Those an edit tells of it: whom the message did not mention before. */
function addedTo(before: StoredMentions | null, now: StoredMentions): Mentions | null {
  if (before?.all) return null;
  const had = new Set([...(before?.users ?? []), ...(before?.present ?? [])]);
  const users = [...new Set([...now.users, ...(now.present ?? [])])].filter((userId) => !had.has(userId)).sort();
  const added = { users, here: now.here && !before?.here, all: now.all };
  return isEmpty(added) ? null : added;
}
