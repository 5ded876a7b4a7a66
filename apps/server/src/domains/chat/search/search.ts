import { fail, type SearchQuery } from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Cursors } from '../../../core/cursors.ts';
import type { Db } from '../../../core/db.ts';
import { RawJson } from '../../../core/handlers.ts';
import type { ReplicatedReads } from '../../../core/replicated-reads.ts';
import { refuse } from '../../../core/validation.ts';
import { assertScope, type ChatCaller, userOf } from '../callers.ts';
import type { Entries } from '../conversations/entries.ts';
import { matchText, parseQuery, type Term } from './matcher.ts';
import {
  type FoundMessage,
  findInScope,
  findReadable,
  isCaughtUp,
  readFound,
  type SearchScope,
} from './search-store.ts';
import { bySpot, createWalk, type Hit, type Walked } from './walk.ts';

interface SearchDeps {
  db: Db;
  replicated: Pick<ReplicatedReads, 'together'>;
  clock: Clock;
  cursors: Cursors;
  entries: Entries;
}

const limitDefault = 20;
const termsMax = 16;
/** Best first is in order among so many of the newest matches. */
const bestOfNewest = 200;
/** Of a user with more conversations the index is not asked for each of them. */
const namedMax = 200;
/** So long after a search the indexer keeps little waiting: there may be another. */
const usedMs = 600_000;
/** How long a search waits for a replica that is behind: who types waits for each. */
const patienceMs = 50;

export function createSearch(deps: SearchDeps) {
  const { db, replicated, clock, cursors, entries } = deps;
  const walk = createWalk(deps);
  let lastAt = Number.NEGATIVE_INFINITY;

  /** Null when there is nothing that the caller could find. */
  async function scopeOf(caller: ChatCaller, query: SearchQuery): Promise<SearchScope | null> {
    assertScope(caller, 'chat:read');
    const { projectId, environment } = caller;
    const scope: SearchScope = {
      projectId,
      environment,
      conversations: null,
      memberId: userOf(caller),
      senderId: query.senderId ?? null,
      hasAttachment: query.hasAttachment ?? null,
      from: query.from === undefined ? null : iso(Date.parse(query.from)),
      to: query.to === undefined ? null : iso(Date.parse(query.to)),
    };
    if (query.conversation !== undefined) {
      const { id } = await entries.enter(caller, query.conversation, { scope: 'chat:read', action: 'read' });
      return { ...scope, conversations: [id] };
    }
    if (caller.kind === 'apiKey') return scope;
    const { userId, conversations: listed } = caller;
    const limit = Math.max(namedMax, listed?.length ?? 0) + 1;
    const own = await findReadable(db, caller, { userId, listed, limit });
    if (own.length === 0) return null;
    // A token's own list is never widened to all that its user is in.
    return own.length > namedMax && listed === null ? scope : { ...scope, conversations: own };
  }

  function termsOf(q: string): Term[] {
    const terms = parseQuery(q);
    if (terms.length === 0)
      refuse([{ field: 'q', rule: 'pattern', message: 'q must have a letter, a digit or an emoji.' }]);
    if (terms.length > termsMax)
      refuse([{ field: 'q', rule: 'maxItems', message: `q may have ${termsMax} words at most.` }]);
    return terms;
  }

  interface Looked {
    page: Cut;
    messages: FoundMessage[];
    isComplete: boolean;
    isReplica: boolean;
  }

  /** The index, what waits for it and the messages, each read after the one before: nothing is between two of them. */
  const look = (caller: ChatCaller, terms: readonly Term[], scope: SearchScope, asked: Asked): Promise<Looked> =>
    replicated.together(patienceMs, async (from, isReplica) => {
      const { isBest, after, limit } = asked;
      const about = { from, terms, scope };
      // Asked first: what gets its terms meanwhile may be missing from what the index said.
      const isCaught = await isCaughtUp(from, scope);
      const page = isBest
        ? bestPage(await walk({ ...about, after: null, limit: bestOfNewest }), after, limit)
        : newestPage(await walk({ ...about, after, limit }), limit);
      const messages = await readFound(from, page.hits, scope, userOf(caller));
      return { page, messages, isComplete: page.isWhole && isCaught, isReplica };
    });

  /** Who may read what a replica has found is the primary's word. */
  async function readable(scope: SearchScope, { messages, isReplica }: Looked): Promise<FoundMessage[]> {
    if (!isReplica) return messages;
    const uuids = new Set(messages.map(({ conversationUuid }) => conversationUuid));
    const allowed = await findInScope(db, scope, [...uuids]);
    return messages.filter(({ conversationUuid }) => allowed.has(conversationUuid));
  }

  const resultsOf = (terms: readonly Term[], hits: readonly Hit[], messages: readonly FoundMessage[]): string[] =>
    hits.flatMap((hit) => {
      const message = messages.find(
        (one) => one.position === hit.position && one.conversationUuid === hit.conversationUuid,
      );
      // It may say something else by now.
      const match = message && matchText(terms, message.text);
      return match
        ? [`{"message":${message.record},"score":${match.score},"ranges":${JSON.stringify(match.ranges)}}`]
        : [];
    });

  async function search(caller: ChatCaller, query: SearchQuery): Promise<RawJson> {
    const { q, sort = 'best', limit = limitDefault, cursor } = query;
    const terms = termsOf(q);
    lastAt = clock.elapsed();
    const list = `search/${caller.projectId}/${caller.environment}/${sort}/${terms.map(({ text }) => text).join(' ')}`;
    const after = cursor === undefined ? null : spotOf(cursors.read(list, cursor));
    const scope = await scopeOf(caller, query);
    if (!scope) return new RawJson('{"results":[],"nextCursor":null,"complete":true}');
    const looked = await look(caller, terms, scope, { isBest: sort === 'best', after, limit });
    const { page, isComplete } = looked;
    const results = resultsOf(terms, page.hits, await readable(scope, looked));
    const { next } = page;
    const nextCursor = next
      ? `"${cursors.write(list, [next.score ?? 0, next.createdAt, next.conversationUuid, next.position])}"`
      : 'null';
    return new RawJson(`{"results":[${results.join(',')}],"nextCursor":${nextCursor},"complete":${isComplete}}`);
  }

  return { search, isUsed: (): boolean => clock.elapsed() - lastAt < usedMs };
}

interface Asked {
  isBest: boolean;
  after: Required<After> | null;
  limit: number;
}

type After = Pick<Hit, 'createdAt' | 'conversationUuid' | 'position'> & { score?: number };
type Cut = Pick<Walked, 'isWhole'> & { hits: Hit[]; next: After | null };

function spotOf([score, createdAt, conversationUuid, position]: readonly (string | number)[]): Required<After> {
  if (position === undefined) fail('SVC_INVALID_CURSOR');
  return {
    score: Number(score),
    createdAt: String(createdAt),
    conversationUuid: String(conversationUuid),
    position: Number(position),
  };
}

function newestPage({ hits, upTo, isWhole }: Walked, limit: number): Cut {
  const page = hits.slice(0, limit);
  return { hits: page, isWhole, next: hits.length > limit ? (page.at(-1) ?? null) : upTo };
}

const byScore = (one: Required<After>, other: Required<After>): number => other.score - one.score || bySpot(one, other);

function bestPage({ hits, isWhole }: Walked, after: Required<After> | null, limit: number): Cut {
  const ranked = hits
    .slice(0, bestOfNewest)
    .sort(byScore)
    .filter((hit) => after === null || byScore(hit, after) > 0);
  const page = ranked.slice(0, limit);
  return { hits: page, isWhole, next: ranked.length > limit ? (page.at(-1) ?? null) : null };
}
