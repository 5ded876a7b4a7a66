import { rm } from 'node:fs/promises';
import { createCursors } from '../apps/server/src/core/cursors.ts';
import { createKeyring } from '../apps/server/src/core/keyring.ts';
import { sql } from '../apps/server/src/core/sql.ts';
import { cursorScope } from '../apps/server/src/domains/chat/messages/history.ts';
import { isoJson, newMessageText } from '../apps/server/src/domains/chat/messages/json-store.ts';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase, type TestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { adminUrl, type Stage, secretKey, startStage } from './chat-stage.ts';
import { type Child, requestsPerSecond, startChild } from './children.ts';
import { bestOf, type Row, thousands } from './ratio.ts';

const messages = 1_000_000;
const deep = 10_000;
const pageSize = 50;
const callers = 16;
const runMs = 2_500;

/** Messages in one conversation, written by the database itself, and its counters as if they had been sent. */
export async function fill({ db }: TestDatabase, room: string, messages: number): Promise<string> {
  const [row] = await db.query<{ id: string }>(sql`select id from conversations where public_id = ${room}`);
  if (!row) throw new Error(`no conversation ${room}`);
  const step = 50_000;
  for (let from = 0; from < messages; from += step) {
    await db.execute(sql`
      insert into messages (conversation_id, position, seq, change, id, type, text, sender_id, created_at, record)
      select m.conversation_id, m.position, m.seq, m.change, m.id, m.type, m.text, m.sender_id, m.created_at,
             ${newMessageText({ messages: false, files: false, mentions: false, extras: false })}
      from (
        select ${row.id}::uuid as conversation_id, n as position, n as seq, n as change,
               'msg_' || lpad(n::text, 24, '0') as id, 'text' as type, repeat('x', 200) as text,
               'user-' || n % 10 as sender_id, null as sender_role, null as client_message_id, '{}'::jsonb as metadata,
               null::float8 as client_sent_at, created_at, ${isoJson('created_at')} as created_text
        from generate_series(${from + 1}::bigint, ${from + step}::bigint) n
        cross join lateral (select now() - (${messages} - n) * interval '1 second' as created_at) t) m
      cross join (select ${room}::text as public_id) c`);
  }
  await db.execute(sql`update conversations set last_seq = ${messages}, last_change = ${messages},
    last_position = ${messages}, message_count = ${messages} where id = ${row.id}`);
  await db.execute(sql`analyze messages`);
  return row.id;
}

/** Milliseconds of the middle answer when one client asks for the same page again and again; the best of three runs. */
async function pageMs(generator: Child, { port, key, rooms }: Stage, query: string): Promise<number> {
  const { p50Ms } = await requestsPerSecond(generator, {
    port,
    method: 'GET',
    paths: [`/v1/chat/conversations/${rooms[0]}/messages?limit=${pageSize}${query}`],
    headers: { authorization: `Bearer ${key}` },
    connections: 1,
    ms: runMs / 2,
  });
  return p50Ms;
}

/** History: how much of a plain query's speed is left over HTTP, and what depth costs. */
export async function rows(): Promise<Row[]> {
  const database = await openTestDatabase({ url: adminUrl });
  const dataDir = await newDataDir();
  const generator = startChild('./http-load.ts');
  const peers = startChild('./chat-peers.ts');
  const databaseUrl = database.url ?? '';
  const stage = await startStage({ dataDir, env: { DATABASE_URL: databaseUrl }, conversations: 1, users: 1 });
  try {
    const [room = ''] = stage.rooms;
    const uuid = await fill(database, room, messages);
    const cursors = createCursors(createKeyring(secretKey));
    const scope = cursorScope({ projectId: stage.project.id, environment: 'DEVELOPMENT' }, uuid);
    const before = (position: number): string => `&before=${encodeURIComponent(cursors.write(scope, [position]))}`;
    const raw = async (columns: 'fields' | 'record'): Promise<number> => {
      const order = { databaseUrl, conversation: uuid, columns, ms: runMs, callers };
      return (await peers.ask<{ perSecond: number }>(order)).perSecond;
    };
    const page = async (query: string) => 1000 / (await pageMs(generator, stage, query));

    const best = await bestOf({
      ours: async () => {
        const { perSecond } = await requestsPerSecond(generator, {
          port: stage.port,
          method: 'GET',
          paths: [`/v1/chat/conversations/${room}/messages?limit=${pageSize}`],
          headers: { authorization: `Bearer ${stage.key}` },
          connections: callers,
          ms: runMs,
        });
        return perSecond;
      },
      raw: () => raw('fields'),
      record: () => raw('record'),
      first: () => page(''),
      deep: () => page(before(messages - deep)),
      last: () => page(before(pageSize + 1)),
    });
    return rowsOf(best);
  } finally {
    await stage.child.stop();
    await peers.stop();
    await generator.stop();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Pages a second of each side; of the last three by one client. */
type Best = Record<'ours' | 'raw' | 'record' | 'first' | 'deep' | 'last', number>;

function rowsOf({ ours, raw, record, first, deep: far, last }: Best): Row[] {
  const ms = (perSecond: number): string => `${(1000 / perSecond).toFixed(2)} ms`;
  const count = messages.toLocaleString('en');
  return [
    {
      question: `history page over HTTP / raw query, newest ${pageSize} of ${count}`,
      floor: { atLeast: 0.5 },
      ratio: ours / raw,
      detail: `${thousands(ours)} against ${thousands(raw)} by ${callers} callers; only the stored JSON ${thousands(record)}`,
      bars: { unit: 'pages/s', sides: { Parley: ours, 'raw query': raw, 'only the stored JSON': record } },
    },
    {
      question: `history page ${deep.toLocaleString('en')} deep / first page, ${count} messages`,
      floor: { atMost: 1.5 },
      ratio: first / far,
      detail: `${ms(far)} against ${ms(first)}`,
      bars: { unit: 'ms', sides: { [`${deep.toLocaleString('en')} deep`]: 1000 / far, 'first page': 1000 / first } },
    },
    {
      question: `last page of ${count} messages / first page`,
      floor: { atMost: 1.5 },
      ratio: first / last,
      figures: { lastPageRatio: first / last },
      detail: `${ms(last)} against ${ms(first)}`,
      bars: { unit: 'ms', sides: { 'last page': 1000 / last, 'first page': 1000 / first } },
    },
  ];
}
