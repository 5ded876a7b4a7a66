/** What happened, in the order it was seen: one line a fact, never changed. */
export type LogEntry =
  | { is: 'invoke'; key: string }
  /** Acknowledged, with the numbers it was given. */
  | { is: 'ok'; key: string; seq: number; change: number }
  /** Refused: it must not be there. */
  | { is: 'fail'; key: string }
  /** Nobody knows: it may be there or not. */
  | { is: 'info'; key: string };

/** What a reader saw of the conversation, in their order. */
export interface Sighting {
  by: string;
  /** Messages by paging, or changes by listening. */
  keys: readonly { key: string; seq: number }[];
}

export interface Finding {
  rule: 'lost' | 'duplicated' | 'unexpected' | 'order' | 'gap' | 'live-differs';
  detail: string;
}

/**
 * Holds a log of sends against the history that is stored and against what others saw meanwhile. Empty when every
 * acknowledged message is there once, nothing else is, numbers are dense, and every reader saw exactly that.
 */
export function checkHistory(
  log: readonly LogEntry[],
  history: readonly { key: string; seq: number }[],
  sightings: readonly Sighting[] = [],
): Finding[] {
  const findings: Finding[] = [];
  const find = (rule: Finding['rule'], detail: string): void => void findings.push({ rule, detail });
  const stored = new Map<string, number>();
  for (const { key, seq } of history) {
    if (stored.has(key)) find('duplicated', `${key} is stored as ${stored.get(key)} and ${seq}`);
    stored.set(key, seq);
  }
  const [invoked, refused] = [new Set<string>(), new Set<string>()];
  for (const entry of log) {
    if (entry.is === 'invoke') invoked.add(entry.key);
    if (entry.is === 'fail') refused.add(entry.key);
    if (entry.is !== 'ok') continue;
    if (!stored.has(entry.key)) find('lost', `${entry.key} was acknowledged as ${entry.seq} and is not there`);
    else if (stored.get(entry.key) !== entry.seq) {
      find('order', `${entry.key} was acknowledged as ${entry.seq} and is stored as ${stored.get(entry.key)}`);
    }
  }
  for (const key of stored.keys()) {
    if (!invoked.has(key) || refused.has(key)) find('unexpected', `${key} is stored and should not be`);
  }
  [...history]
    .sort((a, b) => a.seq - b.seq)
    .forEach(({ seq }, at) => {
      if (seq !== at + 1) find('gap', `place ${at + 1} has number ${seq}`);
    });
  for (const { by, keys } of sightings) findings.push(...checkSighting(by, keys, stored));
  return findings;
}

function checkSighting(by: string, keys: Sighting['keys'], stored: ReadonlyMap<string, number>): Finding[] {
  const findings: Finding[] = [];
  const seen = new Set<string>();
  let last = 0;
  for (const { key, seq } of keys) {
    if (seen.has(key)) findings.push({ rule: 'duplicated', detail: `${by} saw ${key} twice` });
    seen.add(key);
    if (seq <= last) findings.push({ rule: 'order', detail: `${by} saw ${seq} after ${last}` });
    else if (seq !== last + 1) findings.push({ rule: 'gap', detail: `${by} saw ${seq} after ${last}` });
    last = seq;
    if (stored.get(key) !== seq) findings.push({ rule: 'live-differs', detail: `${by} saw ${key} as ${seq}` });
  }
  for (const key of stored.keys())
    if (!seen.has(key)) findings.push({ rule: 'lost', detail: `${by} never saw ${key}` });
  return findings;
}
