import type { ReactionSummary } from './records.ts';

const USER_IDS_MAX = 10;

/** A broadcast does not say whether this user reacted: the list does, or what was known before. */
export function withOwn(
  reactions: readonly ReactionSummary[],
  before: readonly ReactionSummary[],
  userId: string,
): ReactionSummary[] {
  return reactions.map((one) => {
    const { emoji, count, userIds, reacted = before.find((known) => known.emoji === emoji)?.reacted } = one;
    if (one.reacted !== undefined) return one;
    if (userIds.includes(userId) || userIds.length >= count) return { ...one, reacted: userIds.includes(userId) };
    return reacted === undefined ? one : { ...one, reacted };
  });
}

/** The summary after one reaction came or went; `count` is the number that is then right. */
export function withReaction(
  reactions: readonly ReactionSummary[],
  emoji: string,
  userId: string,
  count: number,
  isAdded: boolean,
  isMine: boolean,
): ReactionSummary[] {
  const known = reactions.find((one) => one.emoji === emoji);
  const others = (known?.userIds ?? []).filter((id) => id !== userId);
  const next: ReactionSummary = {
    emoji,
    count,
    userIds: isAdded ? [...others, userId].slice(0, USER_IDS_MAX) : others,
    reacted: isMine ? isAdded : (known?.reacted ?? false),
  };
  if (count <= 0) return reactions.filter((one) => one.emoji !== emoji);
  return known ? reactions.map((one) => (one === known ? next : one)) : [...reactions, next];
}
