/** Which layer frame of a VP9 picture a payload belongs to (RFC 9628 4.2); for publishers without the descriptor. */
export interface Vp9Layers {
  spatial: number;
  isEnd: boolean;
  /** How many spatial layers there are, where the payload says it. */
  count: number | undefined;
}

const FLAG = { I: 0x80, P: 0x40, L: 0x20, F: 0x10, E: 0x04, V: 0x02 } as const;
const REFERENCES_MAX = 3;

export function readVp9Layers(b: Buffer, start: number, end: number): Vp9Layers {
  const flags = b[start] ?? 0;
  const isEnd = (flags & FLAG.E) !== 0;
  let at = start + 1;
  if ((flags & FLAG.I) !== 0) at += ((b[at] ?? 0) & 0x80) !== 0 ? 2 : 1;
  let spatial = 0;
  if ((flags & FLAG.L) !== 0) {
    if (at >= end) return { spatial: 0, isEnd, count: undefined };
    spatial = ((b[at] ?? 0) >> 1) & 7;
    at += (flags & FLAG.F) !== 0 ? 1 : 2;
  }
  if ((flags & FLAG.F) !== 0 && (flags & FLAG.P) !== 0) at = afterReferences(b, at);
  const hasStructure = (flags & FLAG.V) !== 0 && at < end;
  return { spatial, isEnd, count: hasStructure ? ((b[at] ?? 0) >> 5) + 1 : undefined };
}

/** A picture refers to three others at most; the lowest bit says whether one more follows. */
function afterReferences(b: Buffer, start: number): number {
  let at = start;
  for (let more = true; more && at - start < REFERENCES_MAX; at += 1) more = ((b[at] ?? 0) & 1) !== 0;
  return at;
}
