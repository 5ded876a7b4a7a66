import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chatClientFrames, chatRoutes, type RouteRow, splitAt } from '@parley/contract';
import type { TObject, TSchema } from 'typebox';
import { type ChatOf, createChatKit } from '../../../testkit/chat.ts';
import { sampleBody } from '../../../testkit/sample-body.ts';
import { startService, type TestService } from '../../../testkit/service.ts';
import { raw, sql } from '../../core/sql.ts';

/** Every route and frame of chat, given what it does not take: the error it declares, and nothing stored. */
let service: TestService;
let chat: ChatOf;
let room: string;
let messageId: string;
const env = { CHAT_SUBSCRIBE_RATE_LIMIT: '100000', CHAT_SEND_RATE_LIMIT: '100000', CHAT_REACT_RATE_LIMIT: '100000' };
before(async () => {
  service = await startService({ env });
  chat = await createChatKit(service);
  room = (await chat.conversation(['alice'])).id;
  messageId = (await chat.project.api.call('sendMessage', { room, body: { text: 'here', senderId: 'alice' } })).id;
});
after(() => service.stop());

/** Everything chat keeps, as one text. */
async function everything(): Promise<string> {
  const tables = [
    'conversations',
    'conversation_members',
    'messages',
    'reactions',
    'conversation_changes',
    'attachments',
  ];
  const parts = tables.map((table) => `(select jsonb_agg(to_jsonb(t) order by to_jsonb(t)::text) from ${table} t)`);
  const texts = raw(parts.map((part) => `${part}::text`).join(', '));
  const [row] = await service.adapters.db.query<{ all: string }>(sql`select concat(${texts}) as all`);
  return row?.all ?? assert.fail('no row');
}

const wrongs: readonly unknown[] = [null, 7.5, -1, 'x'.repeat(20_000), [], [[]], {}, { $ne: 1 }, true, '\u0000'];

/** The value does not fit a schema of this type, whatever else it says. */
function isWrong(schema: TSchema, value: unknown): boolean {
  const { type, anyOf } = schema as { type?: string; anyOf?: TSchema[] };
  if (anyOf) return anyOf.every((one) => isWrong(one, value));
  if (typeof value === 'string') return type !== 'string' || value === '\u0000';
  if (type === 'object') return typeof value !== 'object' || value === null || Array.isArray(value);
  if (type === 'array') return !Array.isArray(value);
  if (type === 'integer') return typeof value !== 'number' || !Number.isInteger(value) || value < 0;
  if (type === 'number') return typeof value !== 'number' || value < 0;
  if (type === 'null') return value !== null;
  return typeof value !== type;
}

const pathOf = (row: RouteRow): string =>
  splitAt(row).path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent({ room, messageId, userId: 'alice', emoji: '👍' }[name] ?? 'att_none'),
  );

/** The code that is declared for it: a NUL is no JSON that we read, and how long a token lives has a code of its own. */
function codeFor(field: string, value: unknown): string {
  if (value === '\u0000') return 'SVC_INVALID_JSON';
  return field === 'ttlSeconds' && Number.isInteger(value) ? 'SVC_INVALID_TTL' : 'SVC_VALIDATION_FAILED';
}

test('[REQ-4] every body field of every chat route: a value it does not take is the declared error, and nothing is stored', async () => {
  const before = await everything();
  let asked = 0;
  for (const row of Object.values(chatRoutes) as RouteRow[]) {
    const { body: schema } = row;
    if (!schema) continue;
    const good = JSON.parse(sampleBody(row).body ?? '{}') as Record<string, unknown>;
    for (const [name, field] of Object.entries((schema as TObject).properties)) {
      for (const value of wrongs.filter((one) => isWrong(field as TSchema, one))) {
        const response = await service.fetch(pathOf(row), {
          method: splitAt(row).method,
          headers: { authorization: `Bearer ${chat.project.apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...good, [name]: value }),
        });
        const { code } = (await response.json()) as { code: string };
        const label = `${row.at} ${name}=${JSON.stringify(value).slice(0, 40)}`;
        assert.deepEqual([response.status, code], [400, codeFor(name, value)], label);
        asked++;
      }
    }
  }
  assert.ok(asked > 100, `only ${asked} were asked`);
  assert.equal(await everything(), before);
});

test('[CHATWS-10] every field of every frame: a value it does not take is VALIDATION_FAILED, and nothing is stored', async () => {
  const before = await everything();
  const client = await (await chat.user('alice')).connect();
  const good: Record<string, unknown> = {
    conversation: room,
    conversations: [room],
    messageId,
    text: 'never',
    emoji: '👍',
    typing: true,
    status: 'ONLINE',
    since: 0,
    limit: 10,
  };
  let asked = 0;
  for (const [type, { data }] of Object.entries(chatClientFrames)) {
    const { properties } = data as TObject;
    for (const [name, field] of Object.entries(properties)) {
      const others = Object.fromEntries(
        Object.keys(properties).flatMap((key) => (key in good ? [[key, good[key]]] : [])),
      );
      // A NUL makes the whole frame unreadable, its id too: nothing could be waited for.
      for (const value of wrongs.filter((one) => one !== '\u0000' && isWrong(field as TSchema, one))) {
        const answer = await client.ask({ ...others, [name]: value, type });
        const label = `${type} ${name}=${JSON.stringify(value).slice(0, 40)}: ${JSON.stringify(answer).slice(0, 200)}`;
        assert.deepEqual([answer.type, answer['code']], ['error', 'VALIDATION_FAILED'], label);
        asked++;
      }
    }
  }
  assert.ok(asked > 100, `only ${asked} were asked`);
  assert.equal(client.closed, null);
  assert.equal(await everything(), before);
  await client.close();
});
