/** A text as it is compared: compatible forms, cases and accents of a letter are one. */
interface Folded {
  text: string;
  /** Where a unit of `text` begins and ends in the original, in code units. */
  startOf(unit: number): number;
  endOf(unit: number): number;
}

/** A character and the marks on it. */
const clusters = /\P{M}\p{M}*|\p{M}+/gsu;
const isAscii = /^[\0-\x7f]*$/;
/** Of Latin, Greek, Cyrillic, Hebrew and Arabic; the marks of other scripts are letters of their own. */
const accents = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/g;
/** Letters that have another spelling and no accent to take away. */
const spelled: Readonly<Record<string, string>> = { ς: 'σ', ø: 'o', ł: 'l', đ: 'd', ß: 'ss', æ: 'ae', œ: 'oe' };

const known = new Map<string, string>();
const knownMax = 20_000;

/** Cluster by cluster: what a part of a text folds to does not depend on what stands beside it. */
function foldCluster(cluster: string): string {
  const before = known.get(cluster);
  if (before !== undefined) return before;
  const plain = cluster.normalize('NFKC').toLowerCase().normalize('NFD').replaceAll(accents, '').normalize('NFC');
  const folded = spelled[plain] ?? plain;
  if (known.size >= knownMax) known.clear();
  known.set(cluster, folded);
  return folded;
}

export function foldText(text: string): string {
  if (isAscii.test(text)) return text.toLowerCase();
  let folded = '';
  for (const [cluster] of text.matchAll(clusters)) folded += foldCluster(cluster);
  return folded;
}

export function fold(text: string): Folded {
  if (isAscii.test(text)) return { text: text.toLowerCase(), startOf: (unit) => unit, endOf: (unit) => unit + 1 };
  let folded = '';
  const [starts, ends]: [number[], number[]] = [[], []];
  for (const { 0: cluster, index } of text.matchAll(clusters)) {
    const part = foldCluster(cluster);
    folded += part;
    const isSame = part.length === cluster.length;
    for (let unit = 0; unit < part.length; unit++) {
      starts.push(isSame ? index + unit : index);
      ends.push(isSame ? index + unit + 1 : index + cluster.length);
    }
  }
  return { text: folded, startOf: (unit) => starts[unit] ?? 0, endOf: (unit) => ends[unit] ?? text.length };
}
