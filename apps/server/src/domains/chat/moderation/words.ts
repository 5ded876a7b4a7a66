/** Literal words, whatever their case, accents and width; scripts without spaces are looked for anywhere in a text. */
export interface WordMatcher {
  /** What is covered, as pairs of indices into the text. */
  find(text: string, onlyFirst: boolean): [from: number, to: number][];
}

/** Characters that nobody sees do not part a word. */
const token = /[[\p{L}\p{N}\p{M}_]--\p{DI}][\p{L}\p{N}\p{M}_\p{DI}]*/gv;
const unseen = /\p{DI}/gu;
const spaceless = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;

/** By way of capitals, so that ß and ss are one. */
const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f\p{DI}]/gu, '')
    .toUpperCase()
    .toLowerCase();

const tokensOf = (text: string): string[] => (text.match(token) ?? []).map(fold);

/** Whether there is anything in it that could be found. */
export const isFindable = (word: string): boolean => tokensOf(word).length > 0;

export function createWordMatcher(words: readonly string[]): WordMatcher {
  const phrases = new Map<string, string[][]>();
  const parts = new Map<string, string[]>();
  for (const word of words) {
    if (spaceless.test(word)) keepPart(word.replaceAll(unseen, ''));
    else {
      const [first = '', ...rest] = tokensOf(word);
      keep(phrases, first, rest);
    }
  }

  function keepPart(part: string): void {
    keep(parts, [...part][0] ?? '', part);
  }

  function findPhrases(text: string, onlyFirst: boolean): [number, number][] {
    const tokens = [...text.matchAll(token)];
    const folded = tokens.map(([one]) => fold(one));
    const found: [number, number][] = [];
    for (const [at, one] of tokens.entries()) {
      for (const rest of phrases.get(folded[at] ?? '') ?? []) {
        if (!rest.every((next, place) => folded[at + 1 + place] === next)) continue;
        const last = tokens[at + rest.length] ?? one;
        found.push([one.index, last.index + last[0].length]);
        if (onlyFirst) return found;
      }
    }
    return found;
  }

  function findParts(text: string, onlyFirst: boolean): [number, number][] {
    const found: [number, number][] = [];
    const { seen, placeOf } = seenOf(text);
    let at = 0;
    for (const point of seen) {
      for (const part of parts.get(point) ?? []) {
        if (!seen.startsWith(part, at)) continue;
        found.push([placeOf(at), placeOf(at + part.length - 1) + 1]);
        if (onlyFirst) return found;
      }
      at += point.length;
    }
    return found;
  }

  return {
    find(text, onlyFirst) {
      const found = phrases.size === 0 ? [] : findPhrases(text, onlyFirst);
      return parts.size === 0 || (onlyFirst && found.length > 0) ? found : [...found, ...findParts(text, onlyFirst)];
    },
  };
}

/** What is seen of a text, and where in it that stands. */
function seenOf(text: string): { seen: string; placeOf: (at: number) => number } {
  if (text.search(unseen) === -1) return { seen: text, placeOf: (at) => at };
  const places: number[] = [];
  let at = 0;
  for (const point of text) {
    const units = point.search(unseen) === -1 ? point.length : 0;
    for (let unit = 0; unit < units; unit++) places.push(at + unit);
    at += point.length;
  }
  return { seen: text.replaceAll(unseen, ''), placeOf: (at) => places[at] ?? text.length };
}

function keep<V>(map: Map<string, V[]>, key: string, value: V): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}
