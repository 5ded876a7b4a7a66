/** Where the application has no other name for a user. */
export const sameName = (userId: string): string => userId;

/** `Ada Lovelace` is `AL`, `ada` is `A`. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s._-]+/).filter((word) => /\p{L}|\p{N}/u.test(word));
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? '')][0] ?? '');
  return letters.join('').toUpperCase() || '?';
}

/** The same person has the same colour on every page. White is readable on each: only the hue differs. */
export function colourOf(identity: string): string {
  let hash = 0;
  for (const letter of identity) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 100_003;
  // The golden angle: hashes that are near each other are of other colours.
  return `oklch(0.48 0.13 ${(hash * 137) % 360})`;
}
