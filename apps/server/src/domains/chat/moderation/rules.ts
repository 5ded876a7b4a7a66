import { setImmediate } from 'node:timers/promises';
import type { LinkPolicy, WordList } from '@parley/contract';
import { refuse } from '../../../core/validation.ts';
import { compilePattern, type LinearPattern, PatternRefused } from './linear-pattern.ts';
import { createWordMatcher, isFindable, type WordMatcher } from './words.ts';

/** What an environment wants of the texts of its users, ready to be asked. */
export interface TextRules {
  links: LinkPolicy;
  lists: readonly CompiledList[];
}

interface CompiledList {
  name: string;
  action: WordList['action'];
  words: WordMatcher;
  patterns: readonly LinearPattern[];
}

/** What becomes of a text. */
type Verdict = { is: 'rejected'; list: string } | { is: 'passed'; text: string; flaggedBy: string[] };

/** Together: what a character of a text costs at most. */
const statesTotalMax = 500;
/** Steps after which others get their turn. */
const stepsMax = 100_000;

/** The patterns of an environment; refuses what cannot run in bounded time. */
export function compileLists(lists: readonly WordList[]): CompiledList[] {
  let left = statesTotalMax;
  return lists.map(({ name, action, words = [], patterns = [] }, list) => {
    const missing = words.findIndex((word) => !isFindable(word));
    const field = `wordLists/${list}`;
    if (missing !== -1)
      refuse([{ field: `${field}/words/${missing}`, rule: 'pattern', message: 'A word needs a letter or digit.' }]);
    const compiled = patterns.map((source, place) => {
      const pattern = compileOne(source, `${field}/patterns/${place}`);
      left -= pattern.size;
      if (left < 0)
        refuse([{ field, rule: 'maximum', message: `All patterns together may have ${statesTotalMax} states.` }]);
      return pattern;
    });
    return { name, action, words: createWordMatcher(words), patterns: compiled };
  });
}

function compileOne(source: string, field: string): LinearPattern {
  try {
    return compilePattern(source);
  } catch (error) {
    if (!(error instanceof PatternRefused)) throw error;
    return refuse([{ field, rule: 'pattern', message: error.message }]);
  }
}

export async function judge({ lists }: TextRules, text: string): Promise<Verdict> {
  const points = lists.some(({ patterns }) => patterns.length > 0) ? [...text] : [];
  const flaggedBy: string[] = [];
  const masked: [number, number][] = [];
  let steps = 0;
  for (const { name, action, words, patterns } of lists) {
    const onlyFirst = action !== 'mask';
    const spans = words.find(text, onlyFirst);
    for (const pattern of patterns) {
      if (onlyFirst && spans.length > 0) break;
      steps += pattern.size * points.length;
      if (steps > stepsMax) {
        await setImmediate();
        steps = 0;
      }
      spans.push(...indicesOf(points, pattern.find(points, onlyFirst)));
    }
    if (spans.length === 0) continue;
    if (action === 'reject') return { is: 'rejected', list: name };
    if (action === 'mask') masked.push(...spans);
    else flaggedBy.push(name);
  }
  return { is: 'passed', text: masked.length === 0 ? text : mask(text, masked), flaggedBy };
}

/** Of characters to those of the text, which counts in halves. */
function indicesOf(points: readonly string[], spans: readonly [number, number][]): [number, number][] {
  if (spans.length === 0) return [];
  const offsets = [0];
  for (const point of points) offsets.push((offsets.at(-1) ?? 0) + point.length);
  return spans.map(([from, to]) => [offsets[from] ?? 0, offsets[to] ?? 0]);
}

/** A star for each character. */
function mask(text: string, spans: readonly [number, number][]): string {
  const inOrder = spans.toSorted(([one], [other]) => one - other);
  let [masked, at] = ['', 0];
  for (const [from, to] of inOrder) {
    if (to <= at) continue;
    const start = Math.max(from, at);
    masked += text.slice(at, start) + '*'.repeat([...text.slice(start, to)].length);
    at = to;
  }
  return masked + text.slice(at);
}

const address = /(?:[a-z][a-z0-9+.-]{1,15}:\/\/|\bwww\.)\S/i;
const endings =
  'com|net|org|io|co|dev|app|info|biz|me|tv|gg|ly|to|xyz|site|online|shop|club|link|live|ru|cn|de|uk|fr|it|es|nl|pl|eu|us|ca|au|in|br|jp|kr';
/** Sentences without a space after the full stop are no names of hosts: only known endings are. */
const host = new RegExp(
  `(?<![\\p{L}\\p{N}@._-])(?:[\\p{L}\\p{N}-]{1,63}\\.){1,8}(?:${endings})(?![\\p{L}\\p{N}-])`,
  'iu',
);

export const hasLink = (text: string): boolean => address.test(text) || host.test(text);
