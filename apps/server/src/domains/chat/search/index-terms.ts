import { createHash } from 'node:crypto';
import type { ProjectScope } from '../../../core/caller.ts';
import { foldText } from './fold.ts';
import type { Term } from './matcher.ts';
import { tokensOf } from './words.ts';

/** What of a message the index knows beside its words. */
interface Place extends ProjectScope {
  conversationUuid: string;
  senderId: string | null;
  hasAttachment: boolean;
  /** Milliseconds. */
  at: number;
}

/** Words are told apart by this much: the rest is asked of the text. */
const wordMax = 40;
/** So long a beginning of a word is a term of its own. */
const beginningMax = 5;
/** So long a beginning may still be of many words. */
const commonMax = 6;
/** What the database takes for one message is 1 MB; a unit of ours is up to three bytes of its. */
const unitsMax = 300_000;

const hashes = new Map<string, string>();
const hashesMax = 10_000;

function hash(text: string): string {
  const before = hashes.get(text);
  if (before !== undefined) return before;
  const made = createHash('sha256').update(text).digest('base64url').slice(0, 10);
  if (hashes.size >= hashesMax) hashes.clear();
  hashes.set(text, made);
  return made;
}

/**
 * Every term of an environment begins with this: a question then walks what is of that environment alone, where a term of
 * its own for it would have to be compared with all of its messages. Two that share a beginning only cost each other time.
 */
const ownOf = ({ projectId, environment }: ProjectScope): string => hash(`${projectId} ${environment}`).slice(0, 6);

// No word has such a sign: these are apart from what people write.
const conversationTerm = (uuid: string): string => `#c${uuid.slice(0, 8)}${uuid.slice(9, 13)}${uuid.slice(14, 18)}`;
const senderTerm = (senderId: string): string => `#s${hash(senderId)}`;
const attachmentTerm = '#f';

/** How far ahead the clock of another process may be. */
export const skewMs = 2_000;

/** Spans of time, each four times as long as the one before, from 4 minutes to 199 days. */
export const spanBits = [18, 20, 22, 24, 26, 28, 30, 32, 34] as const;
const spanOf = (ms: number, bits: number): number => Math.floor(ms / 2 ** bits);
const spanTerm = (level: number, span: number): string => `#${level}${span.toString(36)}`;
/** Where the span of this level that holds the moment begins. */
export const spanStart = (ms: number, level: number): number => {
  const bits = spanBits[level] ?? 0;
  return spanOf(ms, bits) * 2 ** bits;
};

/** One after the other, messages are of the same spans. */
let lastSpans: { own: string; span: number; terms: readonly string[] } = { own: '', span: -1, terms: [] };

function spanTerms(own: string, at: number): readonly string[] {
  const span = spanOf(at, spanBits[0]);
  if (lastSpans.own !== own || lastSpans.span !== span)
    lastSpans = { own, span, terms: spanBits.map((bits, level) => own + spanTerm(level, spanOf(at, bits))) };
  return lastSpans.terms;
}

const isOfTwoUnits = /[\ud800-\udfff]/;
const cut = (word: string, max: number): string => {
  if (word.length <= max) return word;
  return isOfTwoUnits.test(word) ? [...word].slice(0, max).join('') : word.slice(0, max);
};

/** Characters and pairs of neighbours: whatever part of the run is asked for, it is made of these. */
function partsOf(run: string): string[] {
  const letters = [...run];
  return [...letters, ...letters.slice(1).map((letter, at) => `${letters[at]}${letter}`)];
}

/** The terms that a message is found by. None has a space in it. */
export function termsOfMessage(text: string, place: Place): string[] {
  const own = ownOf(place);
  const terms = new Set([conversationTerm(place.conversationUuid)]);
  if (place.senderId !== null) terms.add(own + senderTerm(place.senderId));
  if (place.hasAttachment) terms.add(own + attachmentTerm);
  for (const term of spanTerms(own, place.at)) terms.add(term);
  let units = 0;
  for (const { text: token, isRun } of tokensOf(foldText(text)))
    for (const part of isRun ? partsOf(token) : wordTerms(token)) {
      const known = terms.size;
      terms.add(own + part);
      if (terms.size > known) units += own.length + part.length;
      if (units > unitsMax) return [...terms];
    }
  return [...terms];
}

function wordTerms(word: string): string[] {
  const terms = [cut(word, wordMax)];
  const first = cut(word, beginningMax);
  let beginning = '<';
  for (const letter of first) {
    beginning += letter;
    terms.push(beginning);
  }
  return terms;
}

const quoted = (term: string): string => `'${term.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`;
const all = (parts: readonly string[]): string => parts.join(' & ');

function termQuery(own: string, { text, isRun, isPrefix }: Term, isRare: boolean): string {
  if (isRun) {
    const parts = partsOf(text);
    const letters = [...text].length;
    return all((letters === 1 ? parts : parts.slice(letters)).map((part) => quoted(own + part)));
  }
  const letters = [...text];
  if (!isPrefix || letters.length >= wordMax) return quoted(own + cut(text, wordMax));
  // The database gathers every message of all words that begin so, at any time and for each span anew: of a short one too
  // many, unless the index has named many others for the shorter beginning.
  if (letters.length > (isRare ? beginningMax : commonMax)) return `${quoted(own + text)}:*`;
  return quoted(`${own}<${cut(text, beginningMax)}`);
}

interface Narrowing extends ProjectScope {
  /** Null for all of the environment. */
  conversations: readonly string[] | null;
  senderId: string | null;
  hasAttachment: boolean | null;
}

/**
 * The same as questions to the index, as the database writes them: one for the environment, or one for each conversation.
 * An `or` of conversations in one question takes the index a hundred times as long. `span` narrows to one span of time;
 * `isRare`: hardly anything of what the index named matched.
 */
export function indexQueries(
  terms: readonly Term[],
  narrowing: Narrowing,
  { span, isRare }: { span: { level: number; at: number } | null; isRare: boolean },
): string[] {
  const { conversations, senderId, hasAttachment } = narrowing;
  const own = ownOf(narrowing);
  const parts = terms.map((term) => termQuery(own, term, isRare));
  if (senderId !== null) parts.push(quoted(own + senderTerm(senderId)));
  if (hasAttachment) parts.push(quoted(own + attachmentTerm));
  if (span) parts.push(quoted(own + spanTerm(span.level, spanOf(span.at, spanBits[span.level] ?? 0))));
  if (conversations === null) return [all(parts)];
  return conversations.map((uuid) => all([...parts, quoted(conversationTerm(uuid))]));
}
