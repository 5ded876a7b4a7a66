import type { Message, NewMessage } from '@parley/client/chat';

/** Somebody who can be mentioned, by the name that follows the @. */
export interface Nameable {
  readonly name: string;
  /** Null for `here` and `all`. */
  readonly userId: string | null;
  readonly isFor?: 'here' | 'all';
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** Finds `@name` of these in a text; longer names first, so that "Ada Lovelace" is not "Ada". Null without any. */
function finderOf(names: readonly string[]): RegExp | null {
  if (names.length === 0) return null;
  const longest = [...names].sort((one, other) => other.length - one.length).map(escaped);
  return new RegExp(`(?<=^|\\s)(@(?:${longest.join('|')}))(?![\\p{L}\\p{N}_])`, 'giu');
}

const same = (name: string): string => name.toLocaleLowerCase();

/** Of two with one name each is called by their id. */
export function withOwnNames(people: readonly Nameable[]): readonly Nameable[] {
  const counts = new Map<string, number>();
  for (const { name } of people) counts.set(same(name), (counts.get(same(name)) ?? 0) + 1);
  return people.map((one) =>
    one.userId !== null && (counts.get(same(one.name)) ?? 0) > 1 ? { ...one, name: one.userId } : one,
  );
}

/** Whom a text mentions, as a message says it; empty for nobody. */
export function mentionsIn(text: string, people: readonly Nameable[]): Pick<NewMessage, 'mentions'> {
  const finder = finderOf(people.map(({ name }) => name));
  const found = new Set((finder ? (text.match(finder) ?? []) : []).map((match) => same(match.slice(1))));
  const meant = people.filter(({ name }) => found.has(same(name)));
  if (meant.length === 0) return {};
  const users = meant.flatMap(({ userId }) => (userId === null ? [] : userId));
  const isFor = (many: 'here' | 'all'): boolean => meant.some((one) => one.isFor === many);
  return {
    mentions: {
      ...(users.length > 0 && { users }),
      ...(isFor('here') && { here: true }),
      ...(isFor('all') && { all: true }),
    },
  };
}

/** Text and names after an @, in turn: every second part is a name that the message mentions. */
export function withMentions(text: string, { mentions }: Message, people: readonly Nameable[]): readonly string[] {
  if (!mentions) return [text];
  const meant = people.filter(({ userId, isFor }) =>
    userId === null ? isFor && mentions[isFor] : mentions.users.includes(userId),
  );
  const finder = finderOf(meant.map(({ name }) => name));
  return finder ? text.split(finder) : [text];
}
