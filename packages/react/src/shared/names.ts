/** Where the application has no other name for a user. */
export const sameName = (userId: string): string => userId;

/** `Ada Lovelace` is `AL`, `ada` is `A`. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s._-]+/).filter((word) => /\p{L}|\p{N}/u.test(word));
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? '')][0] ?? '');
  return letters.join('').toUpperCase() || '?';
}

/** White is readable on each of them. */
const COLOURS = ['#1f5fd0', '#0f6b78', '#8a4b00', '#8b3fb0', '#b3261e', '#14713f', '#5a5f9e', '#a02c6d'];

/** The same person has the same colour on every page. */
export function colourOf(identity: string): string {
  let hash = 0;
  for (const letter of identity) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 100_003;
  return COLOURS[hash % COLOURS.length] ?? '';
}
