import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chatClientFrames, conversationRoutes, paramNames, type RouteRow, splitAt } from '@parley/contract';
import type { TObject, TSchema } from 'typebox';
import { type ChatOf, createChatKit } from '../../../testkit/chat/chat.ts';
import { sampleBody } from '../../../testkit/kit/sample-body.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { raw, sql } from '../../core/sql.ts';

/** Every route and frame of chat, given what it does not take: the error it declares, and nothing stored. */
let service: TestService;
let chat: ChatOf;
let room: string;
let messageId: string;
let attachmentId: string;
const env = { CHAT_SUBSCRIBE_RATE_LIMIT: '100000', CHAT_SEND_RATE_LIMIT: '100000', CHAT_REACT_RATE_LIMIT: '100000' };
before(async () => {
  service = await startService({ env });
  chat = await createChatKit(service);
  room = (await chat.conversation(['alice'])).id;
  const { api } = chat.project;
  messageId = (await api.call('sendMessage', { room, body: { text: 'here', senderId: 'alice' } })).id;
  await api.call('addReaction', { messageId, body: { emoji: '👍', userId: 'alice' } });
  const file = { filename: 'a.txt', mimeType: 'text/plain', size: 1, uploaderId: 'alice' };
  attachmentId = (await api.call('requestAttachment', { room, body: file })).attachment.id;
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
  // Of events the ids: when one was dispatched is stored later, and says nothing of what was asked here.
  parts.push('(select jsonb_agg(id order by id) from events)');
  const texts = raw(parts.map((part) => `${part}::text`).join(', '));
  const [row] = await service.adapters.db.query<{ all: string }>(sql`select concat(${texts}) as all`);
  return row?.all ?? assert.fail('no row');
}

const bell = 'a\u0007b';
const wrongs: readonly unknown[] = [null, 7.5, -1, 'x'.repeat(20_000), [], [[]], {}, { $ne: 1 }, true, '\u0000', bell];
const cursorFields = ['cursor', 'before', 'after', 'since'];
/** Texts for people, and texts whose refusal has a code of its own. Every other one is a line without control characters. */
const notLines = [...cursorFields, 'text', 'filename', 'emoji', 'token'];

/** What the field of this name does not take. */
const wrongsFor = (name: string, field: TSchema): unknown[] =>
  wrongs.filter((one) => isWrong(field, one) || (one === bell && isLine(name, field)));

const isLine = (name: string, field: TSchema): boolean =>
  (field as { type?: string }).type === 'string' && !notLines.includes(name);

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

/** The row's path with what is there, or with what is given instead. */
const pathOf = (row: RouteRow, instead: Readonly<Record<string, string>> = {}): string =>
  splitAt(row).path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(
      { room, messageId, attachmentId, userId: 'alice', emoji: '👍', ...instead }[name] ?? assert.fail(name),
    ),
  );

interface Answered {
  status: number;
  code: string;
}

async function ask(row: RouteRow, path: string, body: string | undefined): Promise<Answered> {
  const response = await service.fetch(path, {
    method: splitAt(row).method,
    headers: { authorization: `Bearer ${chat.project.apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  });
  const { code } = (await response.json()) as { code: string };
  return { status: response.status, code };
}

/** The code that is declared for it: a NUL is no JSON that we read, and how long a token lives has a code of its own. */
function codeFor(field: string, value: unknown): string {
  if (value === '\u0000') return 'SVC_INVALID_JSON';
  return field === 'ttlSeconds' && Number.isInteger(value) ? 'SVC_INVALID_TTL' : 'SVC_VALIDATION_FAILED';
}

test('[REQ-4] every body field of every chat route: a value it does not take is the declared error, and nothing is stored', async () => {
  const before = await everything();
  let asked = 0;
  for (const row of Object.values(conversationRoutes) as RouteRow[]) {
    const { body: schema } = row;
    if (!schema) continue;
    const good = JSON.parse(sampleBody(row).body ?? '{}') as Record<string, unknown>;
    for (const [name, field] of Object.entries((schema as TObject).properties)) {
      for (const value of wrongsFor(name, field as TSchema)) {
        const { status, code } = await ask(row, pathOf(row), JSON.stringify({ ...good, [name]: value }));
        const label = `${row.at} ${name}=${JSON.stringify(value).slice(0, 40)}`;
        assert.deepEqual([status, code], [400, codeFor(name, value)], label);
        asked++;
      }
    }
  }
  assert.ok(asked > 100, `only ${asked} were asked`);
  assert.equal(await everything(), before);
});

/** Texts that a query field of this schema does not take, as they stand in the URL. */
function wrongTexts(name: string, schema: TSchema): string[] {
  const { type, maxLength, pattern, minimum } = schema as {
    type?: string;
    maxLength?: number;
    pattern?: string;
    minimum?: number;
  };
  const always = [`${name}=%00`, `${name}=1&${name}=2`, `${name}=%ED%A0%80x${'y'.repeat(maxLength ?? 0)}`];
  const own = {
    integer: ['abc', '1.5', '1e3', '-1', '99999999999999999999', ...(minimum === 1 ? ['0'] : [])],
    boolean: ['yes', '1', 'TRUE'],
    string: [
      ...(maxLength ? ['x'.repeat(maxLength + 1)] : []),
      ...(isLine(name, schema) ? ['%0A', encodeURIComponent(bell)] : []),
      ...(new RegExp(pattern ?? '').test('a b') ? [] : ['a%20b']),
    ],
  }[type ?? ''];
  const texts = [...always, ...(own ?? assert.fail(`no wrong values for ${type}`)).map((text) => `${name}=${text}`)];
  // A longer one is refused for the length of its address.
  return texts.filter((text) => text.length < 4_000);
}

test('[REQ-4] every query field of every chat route: a value it does not take is the declared error, and nothing is stored', async () => {
  const elsewhere = (await chat.conversation(['alice'])).id;
  await chat.project.api.call('sendMessage', { room: elsewhere, body: { text: 'there', senderId: 'alice' } });
  const { latestCursor } = await chat.project.api.call('listMessages', { room: elsewhere, query: {} });
  const badCursors = ['x', 'AAAAAAAAAAAAAAAAAAAAAAAAAAAA', '-1', `${latestCursor}`, `${latestCursor}A`];
  const before = await everything();
  const fields = new Set<string>();
  for (const row of Object.values(conversationRoutes) as RouteRow[]) {
    for (const [name, schema] of Object.entries(row.query?.properties ?? {})) {
      fields.add(name);
      const wrong = wrongTexts(name, schema as TSchema).map((query) => ({ query, code: 'SVC_VALIDATION_FAILED' }));
      const isCursor = cursorFields.includes(name);
      const cursors = isCursor
        ? badCursors.map((one) => ({ query: `${name}=${one}`, code: 'SVC_INVALID_CURSOR' }))
        : [];
      for (const { query, code } of [...wrong, ...cursors]) {
        const answer = await ask(row, `${pathOf(row)}?${query}`, sampleBody(row).body);
        assert.deepEqual(answer, { status: 400, code }, `${row.at}?${query.slice(0, 60)}`);
      }
    }
  }
  for (const name of [...cursorFields, 'limit', 'userId', 'includeDeleted', 'threadRootId'])
    assert.ok(fields.has(name), name);
  assert.equal(await everything(), before);
});

/** A body that would do the work, were it asked of something that is there. */
function goodBody(row: RouteRow): string | undefined {
  if (!row.body) return undefined;
  const good = { text: 'never', emoji: '👍', userId: 'alice', senderId: 'alice', uploaderId: 'alice' };
  const known = Object.entries(good).filter(([name]) => name in (row.body?.properties ?? {}));
  return JSON.stringify({ ...JSON.parse(sampleBody(row).body ?? '{}'), ...Object.fromEntries(known) });
}

const noEmoji: Answered = { status: 400, code: 'SVC_INVALID_EMOJI' };

/** What a path says when it names something that is not there. */
const missingCode: Readonly<Record<string, string>> = {
  room: 'SVC_CONVERSATION_NOT_FOUND',
  messageId: 'SVC_MESSAGE_NOT_FOUND',
  attachmentId: 'SVC_ATTACHMENT_NOT_FOUND',
  userId: 'SVC_MEMBER_NOT_FOUND',
  emoji: 'SVC_REACTION_NOT_FOUND',
  tokenId: 'SVC_TOKEN_NOT_FOUND',
};

test('[REQ-5] every id in the path of every chat route: what is no id or names nothing is the declared error, and nothing is stored', async () => {
  const before = await everything();
  let asked = 0;
  for (const row of Object.values(conversationRoutes) as RouteRow[]) {
    const query = row.query && 'userId' in row.query.properties ? '?userId=alice' : '';
    for (const name of paramNames(splitAt(row).path)) {
      const wrongIds: [string, Answered][] = ['x'.repeat(401), '\u0000', 'a\nb', '\u007f'].map((id) => [
        id,
        { status: 400, code: 'SVC_VALIDATION_FAILED' },
      ]);
      const missing = { status: 404, code: missingCode[name] ?? assert.fail(name) };
      // Every named identity is a chat user: one without conversations is in none.
      if (row !== conversationRoutes.listUserConversations)
        for (const id of ['nothing', '01a1dd14-de65-7b05-8710-0999672eacce', "'; drop table messages; --", '__proto__'])
          wrongIds.push([id, name === 'emoji' && id.includes(' ') ? noEmoji : missing]);
      for (const [id, expected] of wrongIds) {
        const answer = await ask(row, `${pathOf(row, { [name]: id })}${query}`, goodBody(row));
        assert.deepEqual(answer, expected, `${row.at} ${name}=${JSON.stringify(id).slice(0, 60)}`);
        asked++;
      }
    }
    const codes: readonly string[] = row.throws ?? [];
    if (paramNames(splitAt(row).path).includes('emoji')) assert.ok(codes.includes(noEmoji.code), row.at);
    const named = paramNames(splitAt(row).path).map((name) => missingCode[name] ?? '');
    if (row !== conversationRoutes.listUserConversations)
      assert.deepEqual(
        named.filter((code) => !codes.includes(code)),
        [],
        `${row.at} declares them`,
      );
  }
  assert.ok(asked > 150, `only ${asked} were asked`);
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
      for (const value of wrongsFor(name, field as TSchema).filter((one) => one !== '\u0000')) {
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

test('[CHATWS-10] a number of a change that nobody can count to is VALIDATION_FAILED', async () => {
  const client = await (await chat.user('alice')).connect();
  for (const since of [2 ** 53, 1e300]) {
    for (const frame of [
      { type: 'changes', conversation: room, since },
      { type: 'subscribe', conversations: [{ ref: room, since }] },
    ])
      assert.equal((await client.ask(frame))['code'], 'VALIDATION_FAILED', JSON.stringify(frame));
  }
  await client.close();
});
