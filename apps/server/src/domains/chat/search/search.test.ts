import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SearchPage } from '@parley/contract';
import type { Api } from '@parley/server';
import fc from 'fast-check';
import { assertRefused, type ChatOf, createChatKit } from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { isWhole } from '../../../../testkit/kit/part.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import type { ApiKeyCaller } from '../../../core/caller.ts';
import { systemClock } from '../../../core/clock.ts';
import { createCursors } from '../../../core/cursors.ts';
import type { Db } from '../../../core/db.ts';
import { createKeyring } from '../../../core/keyring.ts';
import { sql } from '../../../core/sql.ts';
import { createIndexer } from './indexer.ts';
import { createSearch } from './search.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService({ env: { CHAT_SEARCH_RATE_LIMIT: '100000', CHAT_SEND_RATE_LIMIT: '100000' } });
  chat = await createChatKit(service);
});
after(() => service.stop());

const say = async (room: string, text: string, extra: object = {}): Promise<string> =>
  (await chat.project.api.call('sendMessage', { room, body: { text, senderId: 'bob', ...extra } })).id;
const find = (query: object, api: Api = chat.project.api): Promise<SearchPage> =>
  api.call('searchMessages', { query: { q: '', sort: 'newest', ...query } });
const idsOf = ({ results }: SearchPage): string[] => results.map(({ message }) => message.id);
const foundBy = async (query: object, api?: Api): Promise<string[]> => idsOf(await find(query, api));
/** Once as it is found before there are terms, once by the index. */
async function bothWays(work: () => Promise<void>): Promise<void> {
  await work();
  await service.service.chat.sweep.search();
  await work();
}

test('[SEA-1] whole words, the beginning of the last one, any case and accent; parts of a text without spaces', async () => {
  const { id: room } = await chat.conversation();
  const coffee = await say(room, 'Le Café est ouvert');
  const city = await say(room, '私は東京都に住んでいます');
  const hello = await say(room, 'สวัสดีครับ');
  const home = await say(room, 'Привет из Дома 🎉');
  await bothWays(async () => {
    for (const q of ['cafe', 'CAFÉ ouv', 'caf', 'e\u0301st cafe', 'o'])
      assert.deepEqual(await foundBy({ q }), [coffee], q);
    for (const q of ['東京', '京都に住', '都']) assert.deepEqual(await foundBy({ q }), [city], q);
    for (const q of ['สวัส', 'ครับ']) assert.deepEqual(await foundBy({ q }), [hello], q);
    for (const q of ['привет дом', '🎉', 'из']) assert.deepEqual(await foundBy({ q }), [home], q);
    for (const q of ['caf ouvert', 'afe', '東都', 'ome', 'café привет']) assert.deepEqual(await foundBy({ q }), [], q);
  });
  const [result] = (await find({ q: 'ouvert caf' })).results;
  assert.deepEqual(
    result?.ranges.map(({ start, end }) => result.message.text?.slice(start, end)),
    ['Caf', 'ouvert'],
  );
});

test('[SEA-1] signs of LIKE in a word are letters', async () => {
  const { id: room } = await chat.conversation();
  const snake = await say(room, 'read_me_now 100%');
  const other = await say(room, 'readXmeXnow');
  await bothWays(async () => {
    for (const q of ['read_me_n', 'read_me_now']) assert.deepEqual(await foundBy({ q }), [snake], q);
    for (const q of ['readxme', 'READXMEXNOW']) assert.deepEqual(await foundBy({ q }), [other], q);
  });
});

test('[SEA-2] an edit and a deletion are seen by the next search, before and after they are indexed', async () => {
  const { id: room, uuid } = await chat.conversation();
  const { api } = chat.project;
  const [kept, gone] = [await say(room, 'walrus one'), await say(room, 'walrus two')];
  await service.service.chat.sweep.search();
  assert.deepEqual(await foundBy({ q: 'walrus' }), [gone, kept]);
  await api.call('editMessage', { messageId: kept, body: { text: 'penguin one' } });
  await api.call('deleteMessage', { messageId: gone });
  await bothWays(async () => {
    assert.deepEqual(await foundBy({ q: 'walrus' }), []);
    assert.deepEqual(await foundBy({ q: 'penguin' }), [kept]);
  });
  // What the chore has taken is written when it is through.
  await eventually(async () => {
    const rows = await service.adapters.db.query(sql`
      select m.id from message_search s join messages m on m.conversation_id = s.conversation_id and m.position = s.position
      where s.conversation_id = ${uuid}`);
    assert.deepEqual(rows, [{ id: kept }], 'what was deleted has no terms');
  });
});

/** Places of messages that there are not: to be looked at like any other. */
const leavePlaces = (uuid: string, total: number): Promise<unknown> =>
  service.adapters.db.execute(sql`
    insert into search_pending (conversation_id, position) select ${uuid}, n + 100000 from generate_series(1, ${total}) n`);
async function placesLeft(uuid: string): Promise<number | undefined> {
  const [row] = await service.adapters.db.query<{ total: number }>(sql`
    select count(*) as total from search_pending where conversation_id = ${uuid}`);
  return row?.total;
}

test('[SEA-9] while sends wait, terms wait with them up to a bound, a higher one where nobody searches; what waits is found', async () => {
  const { db, locks } = service.adapters;
  // The chore of the service leaves it to who has its lease, which is free for a moment after each of its runs.
  while (!(await locks.acquire('chore/chat-search', 60_000))) await nextTurn();
  let [isCrowded, isUsed] = [true, true];
  const [sends, search] = [{ isCrowded: () => isCrowded }, { isUsed: () => isUsed }];
  const indexer = createIndexer({ db, clock: systemClock, sends, search });
  const [busy, quiet] = [await chat.conversation(), await chat.conversation()];
  const sent = await say(quiet.id, 'narwhal');
  assert.deepEqual([await indexer.run(), await placesLeft(quiet.uuid)], [0, 1]);
  assert.deepEqual(await foundBy({ q: 'narwhal' }), [sent]);
  await leavePlaces(busy.uuid, 6_000);
  const first = await indexer.run();
  // [SEA-9]: one batch where all that is done is in the way of who sends.
  if (db.dialect === 'embedded') assert.equal(first, 250);
  else assert.ok(first > 250, `more than the bound are indexed no matter who waits: ${first}`);
  const left = (await placesLeft(busy.uuid)) ?? 0;
  assert.ok(left > 4_000, `and no more than that: ${left}`);
  isUsed = false;
  assert.deepEqual([await indexer.run(), await placesLeft(busy.uuid)], [0, left]);
  // Up to the higher bound where so many rows are cheap, else beyond what an answer looks at.
  const waiting = isWhole ? 200_000 : 21_000;
  await leavePlaces(busy.uuid, waiting - left);
  assert.equal((await indexer.run()) > 0, isWhole);
  assert.ok(((await placesLeft(busy.uuid)) ?? 0) > waiting * 0.95);
  // [SEA-7]: what an answer could not look at it says, and nobody else has a part in it.
  const [own, all] = [await find({ q: 'narwhal', conversation: quiet.id }), await find({ q: 'narwhal' })];
  assert.deepEqual([idsOf(own), own.complete, all.complete], [[sent], true, false]);
  const others = await createChatKit(service);
  const { id: room } = await others.conversation();
  const { id } = await others.project.api.call('sendMessage', { room, body: { text: 'narwhal' } });
  const theirs = await find({ q: 'narwhal' }, others.project.api);
  assert.deepEqual([idsOf(theirs), theirs.complete], [[id], true]);
  await db.execute(sql`delete from search_pending where conversation_id = ${busy.uuid} and position > 101000`);
  isCrowded = false;
  await indexer.run();
  assert.equal(await placesLeft(busy.uuid), 0);
  assert.deepEqual(await foundBy({ q: 'narwhal' }), [sent]);
});

test('[SEA-9] who has searched counts as searching for ten minutes', async () => {
  const clock = createFakeClock();
  const cursors = createCursors(createKeyring('a key of this test alone'));
  const { db } = service.adapters;
  const replicated = {
    together: <T>(_: number, work: (from: Db, isReplica: boolean) => Promise<T>) => work(db, false),
  };
  const search = createSearch({ db, replicated, clock, cursors, entries: null as never });
  const caller = { kind: 'apiKey', projectId: randomUUID(), environment: 'DEVELOPMENT' } as ApiKeyCaller;
  assert.equal(search.isUsed(), false);
  await search.search(caller, { q: 'anything' });
  await clock.advance(599_999);
  assert.equal(search.isUsed(), true);
  await clock.advance(1);
  assert.equal(search.isUsed(), false);
});

test('[SEA-9] the service keeps waiting what nobody searches, and indexes it once somebody has', async () => {
  // Time stands still: what was crowded stays so, and no chore runs.
  const own = await startService({ clock: createFakeClock(), env: { CHAT_SEND_RATE_LIMIT: '100000' } });
  try {
    const { project, conversation } = await createChatKit(own);
    const { id: room, uuid } = await conversation();
    const { db } = own.adapters;
    const index = own.service.chat.sweep.search;
    // Sends that were too fast to wait for each other have let all of them be indexed.
    await eventually(async () => {
      await db.execute(sql`delete from search_pending`);
      await db.execute(sql`
        insert into search_pending (conversation_id, position) select ${uuid}, n + 100000 from generate_series(1, 6000) n`);
      const send = () => project.api.call('sendMessage', { room, body: { text: 'walrus' } });
      await Promise.all(Array.from({ length: 40 }, send));
      assert.equal(await index(), 0, 'nobody has searched');
    });
    await project.api.call('searchMessages', { query: { q: 'walrus' } });
    assert.ok((await index()) > 0, 'somebody has');
    const [row] = await db.query<{ total: number }>(sql`select count(*) as total from search_pending`);
    assert.ok((row?.total ?? 0) > 4_000, 'sends still wait');
  } finally {
    await own.stop();
  }
});

test('[SEA-3] a token finds what its user may read now, within its list; another project or environment nothing', async () => {
  const [ours, theirs] = [await chat.conversation(['alice', 'bob']), await chat.conversation(['bob'])];
  const [mine, hidden] = [await say(ours.id, 'giraffe here'), await say(theirs.id, 'giraffe there')];
  const alice = await chat.user('alice');
  const narrow = await chat.user('bob', { conversations: [theirs.id] });
  const stranger = await createChatKit(service);
  await bothWays(async () => {
    assert.deepEqual(await foundBy({ q: 'giraffe' }), [hidden, mine]);
    assert.deepEqual(await foundBy({ q: 'giraffe' }, alice.api), [mine]);
    assert.deepEqual(await foundBy({ q: 'giraffe' }, narrow.api), [hidden]);
    assert.deepEqual(await foundBy({ q: 'giraffe' }, stranger.project.api), []);
    assert.deepEqual(await foundBy({ q: 'giraffe' }, (await chat.user('nobody')).api), []);
  });
  await assertRefused(find({ q: 'giraffe', conversation: theirs.id }, alice.api), 403, 'SVC_NOT_A_MEMBER');
  await assertRefused(find({ q: 'giraffe', conversation: 'conv_none' }), 404, 'SVC_CONVERSATION_NOT_FOUND');
  const writer = await chat.user('alice', { scopes: ['chat:send'] });
  await assertRefused(find({ q: 'giraffe' }, writer.api), 403, 'SVC_SCOPE_MISSING');
  await chat.project.api.call('removeConversationMember', { room: ours.id, userId: 'alice' });
  assert.deepEqual(await foundBy({ q: 'giraffe' }, alice.api), []);
  await chat.project.api.call('deleteConversation', { room: theirs.id });
  assert.deepEqual(await foundBy({ q: 'giraffe' }), [mine]);
});

test('[SEA-4] conversation, sender, time and files narrow; a page walks to the end without a hole or a repeat', async () => {
  const { id: room } = await chat.conversation();
  const { id: other } = await chat.conversation();
  const sent: string[] = [];
  for (let at = 0; at < 12; at++)
    sent.unshift(await say(at % 3 === 0 ? other : room, `otter ${at}`, { senderId: at % 2 === 0 ? 'ann' : 'bob' }));
  const { createdAt } = await chat.project.api.call('getMessage', { messageId: sent[5] ?? '' });
  await bothWays(async () => {
    assert.deepEqual(await foundBy({ q: 'otter', conversation: other }), [sent[2], sent[5], sent[8], sent[11]]);
    assert.equal((await foundBy({ q: 'otter', senderId: 'ann' })).length, 6);
    assert.deepEqual(await foundBy({ q: 'otter', hasAttachment: true }), []);
    assert.equal((await foundBy({ q: 'otter', hasAttachment: false })).length, 12);
    const [early, late] = [
      await foundBy({ q: 'otter', to: createdAt }),
      await foundBy({ q: 'otter', from: createdAt }),
    ];
    assert.deepEqual([...late, ...early], sent);
    assert.ok(late.includes(sent[5] ?? ''));
    for (const sort of ['newest', 'best']) {
      const seen: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page: SearchPage = await find({ q: 'otter', sort, limit: 5, ...(cursor ? { cursor } : {}) });
        seen.push(...idsOf(page));
        cursor = page.nextCursor;
      }
      assert.deepEqual(seen, sent, sort);
    }
  });
});

test('[SEA-5] best first: whole words before beginnings, words in their order before others', async () => {
  const { id: room } = await chat.conversation();
  const order = await say(room, 'badger lake');
  const apart = await say(room, 'lake of the badger');
  const beginning = await say(room, 'badger lakeside');
  await bothWays(async () => {
    assert.deepEqual(await foundBy({ q: 'badger lake', sort: 'best' }), [order, beginning, apart]);
    assert.deepEqual(await foundBy({ q: 'badger lake', sort: 'newest' }), [beginning, apart, order]);
  });
});

test('[SEA-6] nonsense is refused: no words, too many, a bad time, a cursor of another search', async () => {
  const refused = (query: object) => assertRefused(find(query), 400, 'SVC_VALIDATION_FAILED');
  await refused({ q: '…!?' });
  await refused({ q: Array.from({ length: 17 }, (_, at) => `w${at}`).join(' ') });
  await refused({ q: 'x', from: 'yesterday' });
  await refused({ q: 'x'.repeat(257) });
  await refused({ q: 'x', limit: 101 });
  const { id: room } = await chat.conversation();
  for (const text of ['newt 1', 'newt 2']) await say(room, text);
  const { nextCursor } = await find({ q: 'newt', limit: 1 });
  await assertRefused(find({ q: 'toad', cursor: nextCursor }), 400, 'SVC_INVALID_CURSOR');
  for (const q of ["it's \\ 'quoted' & | ! :* <-> ()", '#e #c <h'])
    assert.ok(Array.isArray((await find({ q })).results), q);
});

test('[SEA-7] messages from before there was an index are indexed behind, and the answer says so until then', async () => {
  const { id: room, uuid } = await chat.conversation();
  const old = await say(room, 'mammoth');
  const { db } = service.adapters;
  await service.service.chat.sweep.search();
  // The chore looks twice a second: where it was faster, once more.
  await eventually(async () => {
    await db.execute(sql`delete from message_search where conversation_id = ${uuid}`);
    await db.execute(sql`insert into search_backlog (conversation_id) values (${uuid}) on conflict do nothing`);
    assert.equal((await find({ q: 'mammoth' })).complete, false);
  });
  await eventually(async () => {
    await service.service.chat.sweep.search();
    const page = await find({ q: 'mammoth' });
    assert.deepEqual([idsOf(page), page.complete], [[old], true]);
  });
});

/** Words of several scripts, some of them parts of others. */
const spaced = [
  'snake_case',
  'snakeXcase',
  'snake_',
  'ant',
  'Anton',
  'antenna',
  'Ärger',
  'argon',
  'дом',
  'дома',
  'شمس',
  '42',
  '한국',
  '한국어',
];
const unspaced = ['東京', '京都', '東', 'ไทย', 'ไท', 'かな', '🎉'];
const word = fc.constantFrom(...spaced, ...unspaced);
const plain = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFC');

/** What a search means, without any of its parts: texts and queries here have spaces between all words. */
function isFound(query: readonly string[], text: readonly string[]): boolean {
  const words = text.map(plain);
  return query.map(plain).every((term, at) => {
    if (unspaced.some((one) => one === term)) return words.some((one) => one.includes(term));
    return words.some((one) => (at === query.length - 1 ? one.startsWith(term) : one === term));
  });
}

test('[SEA-8] whatever was sent, edited and deleted, a search finds what a scan of all texts finds', async () => {
  const { api } = chat.project;
  const text = fc.array(word, { minLength: 1, maxLength: 5 });
  const step = fc.record({
    text,
    at: fc.nat(),
    does: fc.constantFrom('send', 'send', 'send', 'edit', 'delete', 'index'),
  });
  const plan = fc.record({
    steps: fc.array(step, { minLength: 5, maxLength: 25 }),
    queries: fc.array(fc.array(word, { minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async ({ steps, queries }) => {
      const { id: conversation } = await chat.conversation();
      const texts = new Map<string, string[]>();
      for (const { text, at, does } of steps) {
        const messageId = [...texts.keys()][at % Math.max(1, texts.size)] ?? '';
        if (does === 'send') texts.set(await say(conversation, text.join(' ')), text);
        else if (does === 'index') await service.service.chat.sweep.search();
        else if (messageId === '') continue;
        else if (does === 'edit') {
          await api.call('editMessage', { messageId, body: { text: text.join(' ') } });
          texts.set(messageId, text);
        } else {
          await api.call('deleteMessage', { messageId });
          texts.delete(messageId);
        }
      }
      for (const query of queries) {
        const expected = [...texts].filter(([, words]) => isFound(query, words)).map(([id]) => id);
        const page = await find({ q: query.join(' '), conversation, limit: 100 });
        assert.deepEqual(idsOf(page).sort(), expected.sort(), query.join(' '));
      }
    }),
    { numRuns: isWhole ? 12 : 4, seed: 7, endOnFailure: true },
  );
});

test('[SEA-8] over years, however dense, a search gives the newest first, in pages without a hole', async () => {
  const { id: conversation, uuid } = await chat.conversation();
  const { db } = service.adapters;
  const long = ['intern', 'internal', 'interest', 'interface', 'interval', 'international', 'antenna', 'anteater'];
  const now = Date.now();
  // Most of them are of the last hour, some of the last two years.
  const messages = Array.from({ length: 700 }, (_, at) => ({
    at: new Date(now - Math.floor(2 ** (11 + (25 * (700 - at)) / 700))).toISOString(),
    text: `${long[(at * 7) % long.length]} ${long[(at * 5 + Math.floor(at / 9)) % long.length]} ${at}`,
  }));
  await db.execute(sql`
    insert into messages (conversation_id, position, seq, change, id, type, text, sender_id, created_at)
    select ${uuid}, n, n, n, 'msg_years' || lpad(n::text, 19, '0'), 'text', m->>'text', 'bob', (m->>'at')::timestamptz
    from jsonb_array_elements(${JSON.stringify(messages)}::jsonb) with ordinality x (m, n)`);
  await db.execute(sql`update conversations set last_seq = 700, last_change = 700, last_position = 700,
    message_count = 700 where id = ${uuid}`);
  await db.execute(sql`insert into search_backlog (conversation_id) values (${uuid}) on conflict do nothing`);
  await eventually(async () => {
    await service.service.chat.sweep.search();
    assert.equal((await find({ q: 'antenna', conversation })).complete, true);
  });
  for (const q of [
    'i',
    'inter',
    'intern',
    'interna',
    'internat',
    'intern anteater',
    'interest internal',
    'interval 69',
  ])
    for (const limit of [7, 100]) {
      const words = q.split(' ');
      const expected = messages.filter(({ text }) => isFound(words, text.split(' '))).map(({ text }) => text);
      const found: string[] = [];
      let cursor: string | null = null;
      do {
        const page: SearchPage = await find({ q, conversation, limit, ...(cursor === null ? {} : { cursor }) });
        found.push(...page.results.map(({ message }) => message.text ?? ''));
        cursor = page.nextCursor;
      } while (cursor !== null && found.length < (isWhole ? 700 : 50));
      assert.deepEqual(
        found,
        expected.reverse().slice(0, cursor === null ? undefined : found.length),
        `${q}, ${limit}`,
      );
    }
});
