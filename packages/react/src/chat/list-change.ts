/** One run of rows replaced by another. */
export interface ListChange {
  readonly start: number;
  readonly removed: number;
  readonly added: number;
}

/** What came and went, from the rows' keys: what both lists begin and end with stays. */
export function changeOf(before: readonly string[], after: readonly string[]): ListChange {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let kept = 0;
  while (kept < shorter - start && before[before.length - 1 - kept] === after[after.length - 1 - kept]) kept++;
  return { start, removed: before.length - start - kept, added: after.length - start - kept };
}

/** Where a row is afterwards; one that went is the row that took its place. */
export function movedBy({ start, removed, added }: ListChange, index: number): number {
  if (index < start) return index;
  return index < start + removed ? start + Math.min(index - start, Math.max(0, added - 1)) : index - removed + added;
}
