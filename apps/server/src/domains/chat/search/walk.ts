import type { Clock } from '../../../core/clock.ts';
import type { Reader } from '../../../core/db.ts';
import { indexQueries, skewMs, spanBits, spanStart } from './index-terms.ts';
import { type Match, matchText, type Term } from './matcher.ts';
import { type Candidate, readIndexed, readPending, type SearchScope, type Spot } from './search-store.ts';

/** A message that matches. */
export interface Hit extends Spot, Match {}

export interface Walked {
  /** Newest first. */
  hits: Hit[];
  /** Everything up to here was looked at; null: everything. */
  upTo: Spot | null;
  /** False: more waits for its terms than a search looks at. */
  isWhole: boolean;
}

/** Messages without terms that a search looks at. Their texts are read: it is this many or an unfinished answer. */
const pendingMax = 20_000;
/** Messages that a search reads which the index named and which did not match, or are not for the caller. */
const missesMax = 2_000;
/** Few conversations are asked for one by one; more, once so many messages of others were in the way. */
const [fewConversations, foreignMax] = [4, 500];
/** More than so many that the beginning of a word named and that do not match: the whole word is asked for. */
const othersMax = 100;
const sizeMax = 1_000;

const keyOf = ({ conversationUuid, position }: Spot): string => `${conversationUuid} ${position}`;

/** Newest first; what was written in the same millisecond by its place. */
export function bySpot(one: Spot, other: Spot): number {
  if (one.createdAt !== other.createdAt) return one.createdAt < other.createdAt ? 1 : -1;
  if (one.conversationUuid !== other.conversationUuid) return one.conversationUuid < other.conversationUuid ? 1 : -1;
  return other.position - one.position;
}

/** Finds the newest matches: in the texts that have no terms yet, and by the index. */
export function createWalk({ clock }: { clock: Clock }) {
  interface Search {
    /** What is read later sees no less: a text that was waiting has terms in what is read after it. */
    from: Reader;
    terms: readonly Term[];
    scope: SearchScope;
    after: Spot | null;
    limit: number;
  }

  const hitsOf = (terms: readonly Term[], rows: readonly Candidate[]): Hit[] =>
    rows.flatMap((row) => {
      const match = row.text === null ? null : matchText(terms, row.text);
      const { conversationUuid, position, createdAt } = row;
      return match ? [{ conversationUuid, position, createdAt, ...match }] : [];
    });

  /**
   * Spans of time, each longer than the one before, until there is enough: a word that is in every second message costs
   * as little as one that is nowhere.
   */
  async function walkIndex({ from, terms, scope, after, limit }: Search, pending: ReadonlySet<string>) {
    const hits: Hit[] = [];
    const few = (scope.conversations?.length ?? 0) <= fewConversations;
    const newest = Math.min(
      ...[clock.now() + skewMs, after && Date.parse(after.createdAt) + 1, scope.to && Date.parse(scope.to)].filter(
        (at) => typeof at === 'number',
      ),
    );
    let [misses, foreign] = [0, 0];
    let [last, before]: [Spot | null, number | null] = [after, null];
    for (let level = 0; level <= spanBits.length; ) {
      const span = level < spanBits.length ? { level, at: (before ?? newest) - 1 } : null;
      for (let size = limit + 1; ; size = Math.min(size * 4, sizeMax)) {
        const isRare = misses - foreign >= othersMax;
        const narrowing = few || foreign >= foreignMax ? scope : { ...scope, conversations: null };
        const look = { queries: indexQueries(terms, narrowing, { span, isRare }), after: last, before, limit: size };
        const rows = await readIndexed(from, scope, look);
        const found = hitsOf(
          terms,
          rows.filter((row) => !pending.has(keyOf(row))),
        );
        hits.push(...found);
        misses += rows.length - found.length;
        foreign += rows.filter(({ text }) => text === null).length;
        last = rows.at(-1) ?? last;
        if (hits.length > limit) return { hits, upTo: null };
        if (misses >= missesMax) return { hits, upTo: last };
        if (rows.length < size) break;
      }
      if (!span) break;
      before = spanStart(span.at, level);
      if (scope.from !== null && before <= Date.parse(scope.from)) break;
      // Where little was found the next span but one: as few looks as can be, and none much too long.
      level = Math.min(level + (hits.length * 4 < limit ? 2 : 1), spanBits.length);
    }
    return { hits, upTo: null };
  }

  /** At least the first `limit + 1` matches after a spot, or all there are up to `upTo`. */
  return async function walk(search: Search): Promise<Walked> {
    const { rows, isWhole } = await readPending(search.from, search.scope, {
      words: search.terms.map(({ text }) => text),
      limit: pendingMax,
    });
    const { hits, upTo } = await walkIndex(search, new Set(rows.map(keyOf)));
    const waiting = hitsOf(search.terms, rows).filter(
      (hit) => (search.after === null || bySpot(hit, search.after) > 0) && (upTo === null || bySpot(hit, upTo) <= 0),
    );
    return { hits: [...hits, ...waiting].sort(bySpot), upTo, isWhole };
  };
}
