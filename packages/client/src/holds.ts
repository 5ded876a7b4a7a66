/** How many use each part of an object. */
const counts = new WeakMap<object, Map<string, number>>();

export const countHolds = (owner: object, part: string): number => counts.get(owner)?.get(part) ?? 0;

/** Counts one more user of a part; the last who calls what it returns ends it. */
export function hold(owner: object, part: string, end: () => void): () => void {
  const parts = counts.get(owner) ?? new Map<string, number>();
  counts.set(owner, parts);
  parts.set(part, (parts.get(part) ?? 0) + 1);
  let isHeld = true;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    const left = (parts.get(part) ?? 1) - 1;
    if (left > 0) return void parts.set(part, left);
    parts.delete(part);
    end();
  };
}
