import type { Description, Direction, MediaEntry } from './description.ts';

/** `next` less what `base` said already. Entries are compared whole. */
export function delta(base: Description | undefined, next: Description): Description {
  if (!base) return next;
  const known = new Map(base.media.map((entry) => [entry.mid, entry]));
  const changed: Description = { media: next.media.filter((entry) => !isSame(entry, known.get(entry.mid))) };
  if (next.ice && !isSame(next.ice, base.ice)) changed.ice = next.ice;
  if (next.dtls && !isSame(next.dtls, base.dtls)) changed.dtls = next.dtls;
  if (next.candidates && !isSame(next.candidates, base.candidates)) changed.candidates = next.candidates;
  return changed;
}

/** `base` with the changes in `change`: known entries are replaced where they stand, new ones go to the end. */
export function apply(base: Description | undefined, change: Description): Description {
  if (!base) return change;
  const changed = new Map(change.media.map((entry) => [entry.mid, entry]));
  const kept = base.media.map((entry) => changed.get(entry.mid) ?? entry);
  const added = change.media.filter(({ mid }) => !base.media.some((entry) => entry.mid === mid));
  return { ...base, ...change, media: [...kept, ...added] };
}

const OPPOSITE: Record<Direction, Direction> = {
  sendrecv: 'sendrecv',
  sendonly: 'recvonly',
  recvonly: 'sendonly',
  inactive: 'inactive',
};

/** What a subscriber that takes everything answers to `offer`. */
export function expectedAnswer(offer: Description): MediaEntry[] {
  return offer.media.map(({ mid, kind, direction, codecs, extensions }) => ({
    mid,
    kind,
    direction: OPPOSITE[direction],
    ...(codecs && { codecs: codecs.map(({ fmtp: _, ...codec }) => codec) }),
    ...(extensions && { extensions }),
  }));
}

/** The part of a subscriber's answer that must travel: its transport, and entries that are not as expected. */
export function answerDelta(offer: Description, answer: Description, isFirst: boolean): Description {
  const expected = new Map(expectedAnswer(offer).map((entry) => [entry.mid, entry]));
  const plain = expectedAnswer({ media: answer.media }).map((entry) => ({
    ...entry,
    direction: OPPOSITE[entry.direction],
  }));
  const media = plain.filter((entry) => !isSame(entry, expected.get(entry.mid)));
  return isFirst ? { ice: answer.ice, dtls: answer.dtls, media } : { media };
}

/** Deep equality of JSON values; a key that is undefined counts as absent. */
export function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  // Both are objects; which fields they have is what is being compared.
  const a = left as Record<string, unknown>;
  const b = right as Record<string, unknown>;
  return [...keys].every((key) => isSame(a[key], b[key]));
}
