import { fail } from '@parley/contract';

/** Text is counted in code points: one for a letter, one for most emoji. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _point of text) count++;
  return count;
}

export function assertTextFits(text: string, limit: number): void {
  // UTF-16 units are never fewer than code points: most texts need no counting.
  if (text.length <= limit) return;
  const actual = codePoints(text);
  if (actual > limit) fail('SVC_TEXT_TOO_LONG', { limit, actual });
}
