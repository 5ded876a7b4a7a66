import { fold, foldText } from './fold.ts';
import { type Token, tokensOf } from './words.ts';

/** One word of a query: the last one may be the beginning of a word. A run is a part of a run. */
export interface Term {
  text: string;
  isRun: boolean;
  isPrefix: boolean;
}

export interface Match {
  /** How good it is: whole words, words in their order, words again. */
  score: number;
  /** What to highlight, in code units of the text, in order and apart. */
  ranges: { start: number; end: number }[];
}

const rangesMax = 100;
const [wholeWord, inOrder, againMax] = [4, 8, 3];

/** The words of a query, each once. */
export function parseQuery(query: string): Term[] {
  const tokens = tokensOf(foldText(query));
  const terms = tokens.map(({ text, isRun }, at) => ({
    text,
    isRun,
    isPrefix: !isRun && at === tokens.length - 1,
  }));
  return terms.filter((term, at) => terms.findIndex((one) => isSame(one, term)) === at);
}

const isSame = (one: Term, other: Term): boolean => one.text === other.text && one.isPrefix === other.isPrefix;

/** Where a term is in a token, in the folded text. */
function placesOf({ text, isRun, isPrefix }: Term, token: Token): number[] {
  if (isRun !== token.isRun) return [];
  if (!isRun) return (isPrefix ? token.text.startsWith(text) : token.text === text) ? [token.at] : [];
  const places: number[] = [];
  for (let at = token.text.indexOf(text); at >= 0; at = token.text.indexOf(text, at + text.length))
    places.push(token.at + at);
  return places;
}

/**
 * Whether a text has every term of a query: this alone says what a search finds. The index only says where to look, and
 * what it says is asked here again.
 */
export function matchText(terms: readonly Term[], text: string): Match | null {
  const folded = fold(text);
  if (terms.some((term) => !folded.text.includes(term.text))) return null;
  const tokens = tokensOf(folded.text);
  const places: { at: number; end: number }[] = [];
  let [score, again, last, isInOrder] = [0, 0, -1, terms.length > 1];
  for (const term of terms) {
    const found = tokens.flatMap((token) => placesOf(term, token));
    const [first] = found;
    if (first === undefined) return null;
    const next = found.find((at) => at > last);
    isInOrder &&= next !== undefined;
    last = next ?? last;
    if (term.isRun || tokens.some((token) => token.text === term.text)) score += wholeWord;
    again += found.length - 1;
    places.push(...found.map((at) => ({ at, end: at + term.text.length })));
  }
  const ranges = merged(places).map(({ at, end }) => ({ start: folded.startOf(at), end: folded.endOf(end - 1) }));
  return { score: score + (isInOrder ? inOrder : 0) + Math.min(again, againMax), ranges: ranges.slice(0, rangesMax) };
}

function merged(places: { at: number; end: number }[]): { at: number; end: number }[] {
  const apart: { at: number; end: number }[] = [];
  for (const place of places.sort((one, other) => one.at - other.at)) {
    const before = apart.at(-1);
    if (before && place.at < before.end) before.end = Math.max(before.end, place.end);
    else apart.push({ ...place });
  }
  return apart;
}
