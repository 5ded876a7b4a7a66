import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'redis';
import { systemClock } from '../apps/server/src/core/clock.ts';
import { sql } from '../apps/server/src/core/sql.ts';
import { createIndexer } from '../apps/server/src/domains/chat/search/indexer.ts';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase, type TestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { adminUrl, redisUrl, type Stage, startStage, tokenOf } from './chat-stage.ts';
import { type Child, requestsPerSecond, startChild } from './children.ts';
import { bestOf, type Row, thousands } from './ratio.ts';

const messages = Number(process.env['BENCH_SEARCH_MESSAGES'] ?? 1_000_000);
const conversations = 100;
const runMs = 6_000;
/** Longer than the indexer waits for those who send: most of these are indexed meanwhile. */
const sendMs = 12_000;

/** Words of a language: few are in every text, most in few. */
const vocabulary = Array.from({ length: 40_000 }, (_, at) => wordOf(at));

function wordOf(at: number): string {
  const syllables = [
    'ka',
    'lo',
    'mi',
    'ter',
    'sun',
    'be',
    'dor',
    'fi',
    'gra',
    'hel',
    'no',
    'pur',
    'qui',
    'ro',
    'va',
    'wex',
  ];
  let word = '';
  for (let left = at + 16; left > 0; left = Math.floor(left / 16)) word += syllables[left % 16];
  return word;
}

/** As `fill` picks them. */
const textOf = (words: number): string =>
  Array.from({ length: words }, () => vocabulary[Math.floor(Math.random() ** 4 * vocabulary.length)]).join(' ');

/** A message a second, spread over all conversations, with terms as the service writes them. */
export async function fill({ db }: TestDatabase): Promise<void> {
  await db.execute(sql`create table bench_words as
    select w, (row_number() over ())::int as n from unnest(${vocabulary}::text[]) w`);
  await db.execute(sql`create unique index on bench_words (n) include (w)`);
  await db.execute(sql`drop index message_search_terms`);
  const step = 20_000;
  for (let from = 0; from < messages; from += step)
    await db.execute(sql`
      insert into messages (conversation_id, position, seq, change, id, type, text, sender_id, created_at)
      select c.id, g.n / ${conversations} + 1, g.n / ${conversations} + 1, g.n / ${conversations} + 1,
             'msg_' || lpad(g.n::text, 24, '0'), 'text', t.text, 'user-' || g.n % 10,
             now() - (${messages} - g.n) * interval '1 second'
      from generate_series(${from}::bigint, ${from + step - 1}::bigint) g (n)
      join (select id, row_number() over (order by id) - 1 as n from conversations) c on c.n = g.n % ${conversations}
      cross join lateral (
        select string_agg(w.w, ' ') as text
        from (select 1 + floor(power(random(), 4) * ${vocabulary.length - 1})::int as n, g.n as of_row
              from generate_series(1, 11)) pick join bench_words w on w.n = pick.n) t`);
  await db.execute(sql`update conversations c set last_seq = m.total, last_change = m.total, last_position = m.total,
    message_count = m.total from (select conversation_id, count(*) as total from messages group by 1) m
    where m.conversation_id = c.id`);
  await db.execute(
    sql`insert into search_backlog (conversation_id) select id from conversations on conflict do nothing`,
  );
  await Promise.all(
    [0, 1, 2].map(() =>
      createIndexer({
        db,
        clock: systemClock,
        sends: { isCrowded: () => false },
        search: { isUsed: () => true },
      }).run(),
    ),
  );
  await db.execute(sql`set statement_timeout = 0`);
  await db.script(
    `set statement_timeout = 0`,
    `create index message_search_terms on message_search using gin (terms) with (fastupdate = on, gin_pending_list_limit = 1024)`,
    `analyze messages`,
    `analyze message_search`,
    `reset statement_timeout`,
  );
}

/** Rare and common words, beginnings, several words, one conversation, one sender. */
function questions(rooms: readonly string[]): string[] {
  const word = (at: number): string => vocabulary[at % vocabulary.length] ?? '';
  return Array.from({ length: 240 }, (_, at) => {
    const common = word(at % 7);
    const rare = word((at * 997) % vocabulary.length);
    const q = [
      rare,
      common,
      rare.slice(0, 4),
      `${common} ${rare.slice(0, 3)}`,
      common.slice(0, 2),
      `${word(at)} ${word(at + 1)}`,
    ][at % 6];
    const sort = at % 4 === 0 ? '&sort=newest' : '';
    const conversation = at % 5 === 0 ? `&conversation=${rooms[at % rooms.length]}` : '';
    return `/v1/chat/search?q=${encodeURIComponent(q ?? '')}${sort}${conversation}`;
  });
}

interface Searched {
  p50Ms: number;
  p99Ms: number;
}

const ask = (generator: Child, { port }: Stage, token: string, paths: string[]): Promise<Searched> =>
  requestsPerSecond(generator, {
    port,
    method: 'GET',
    paths,
    headers: { authorization: `Bearer ${token}` },
    connections: 1,
    ms: runMs,
  }) as Promise<Searched & { perSecond: number; answers: number }>;

/** Search over a million messages, and what the index costs those who send. */
export async function rows(): Promise<Row[]> {
  const database = await openTestDatabase({ url: adminUrl });
  const dataDir = await newDataDir();
  const generator = startChild('./http-load.ts');
  const prefix = `bench-${process.pid}:`;
  const env = {
    DATABASE_URL: database.url ?? '',
    REDIS_URL: redisUrl,
    REDIS_KEY_PREFIX: prefix,
    CHAT_SEARCH_RATE_LIMIT: '1000000',
  };
  const stage = await startStage({ dataDir, env, conversations, users: 10 });
  try {
    await fill(database);
    const paths = questions(stage.rooms);
    const byKey = await ask(generator, stage, stage.key, paths);
    const byUser = await ask(generator, stage, await tokenOf(stage, 'user-1'), paths);
    const sends = await sendRates(database, generator, stage, prefix);
    return rowsOf(byKey, byUser, sends);
  } finally {
    await stage.child.stop();
    await generator.stop();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Without: we hold the lease of the chore, so that nobody writes terms. In turns, each with nothing left to index. */
async function sendRates(
  { db }: TestDatabase,
  generator: Child,
  stage: Stage,
  prefix: string,
): Promise<Record<'indexed' | 'bare', number>> {
  const body = Array.from({ length: 2_000 }, () =>
    JSON.stringify({ text: textOf(11), senderId: 'user-1', clientMessageId: 'c%d' }),
  );
  const post = async (): Promise<number> =>
    (
      await requestsPerSecond(generator, {
        port: stage.port,
        method: 'POST',
        paths: stage.rooms.map((room) => `/v1/chat/conversations/${room}/messages`),
        headers: { authorization: `Bearer ${stage.key}` },
        body,
        connections: 64,
        ms: sendMs,
      })
    ).perSecond;
  const redis = createClient({ url: redisUrl });
  await redis.connect();
  const key = `${prefix}lock:chore/chat-search`;
  const whenIndexed = async (): Promise<void> => {
    for (let left = 1; left > 0; await sleep(500))
      left = (await db.query<{ left: number }>(sql`select count(*) as left from search_pending`))[0]?.left ?? 0;
  };
  const indexed = async (): Promise<number> => {
    await whenIndexed();
    return post();
  };
  const bare = async (): Promise<number> => {
    await whenIndexed();
    await redis.set(key, String(Date.now() + 2 * sendMs));
    const perSecond = await post();
    await redis.del(key);
    return perSecond;
  };
  try {
    await post();
    return await bestOf({ indexed, bare }, 3);
  } finally {
    redis.destroy();
  }
}

function rowsOf(byKey: Searched, byUser: Searched, { indexed, bare }: Record<'indexed' | 'bare', number>): Row[] {
  const count = messages.toLocaleString('en');
  const p50 = Math.max(byKey.p50Ms, byUser.p50Ms);
  const p99 = Math.max(byKey.p99Ms, byUser.p99Ms);
  const detail = (name: 'p50Ms' | 'p99Ms'): string =>
    `by an API key ${byKey[name].toFixed(1)} ms, by a member of ${conversations} conversations ${byUser[name].toFixed(1)} ms`;
  return [
    {
      question: `search over ${count} messages, p50 in ms`,
      floor: { atMost: 20 },
      ratio: p50,
      detail: detail('p50Ms'),
      bars: { unit: 'ms', sides: { 'by an API key': byKey.p50Ms, 'by a member': byUser.p50Ms } },
    },
    {
      question: `search over ${count} messages, p99 in ms`,
      floor: { atMost: 100 },
      ratio: p99,
      detail: detail('p99Ms'),
      bars: { unit: 'ms', sides: { 'by an API key': byKey.p99Ms, 'by a member': byUser.p99Ms } },
    },
    {
      question: 'sends while their terms are written / while they wait',
      floor: { atLeast: 0.85 },
      ratio: indexed / bare,
      detail: `${thousands(indexed)} against ${thousands(bare)}, 64 connections`,
      bars: { unit: 'messages/s', sides: { 'terms written': indexed, 'terms wait': bare } },
    },
  ];
}
