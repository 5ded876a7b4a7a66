import assert from 'node:assert/strict';
import type { Message } from '@parley/contract';
import { sql } from '../../../apps/server/src/core/sql.ts';
import type { ChatFleet } from '../../../apps/server/testkit/chat/fleet.ts';
import { placesOf } from '../../../apps/server/testkit/kit/places-of.ts';
import type { TestDatabase } from '../../../apps/server/testkit/kit/test-database.ts';
import { type Asked, marksOf, messagesIn, messagesOf, reachable } from './round.ts';

export interface Place {
  fleet: ChatFleet;
  db: TestDatabase['db'];
}

/** What is wrong with one round, in words; nothing when it holds. */
export async function faultsOf(place: Place, asked: Asked): Promise<string[]> {
  const checks = { scheduled, imported, exported, erased, announced };
  const faults: string[] = [];
  for (const [name, check] of Object.entries(checks))
    await check(place, asked).catch((error: Error) => faults.push(`${name}: ${error.message}`));
  return faults;
}

const dense = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

async function scheduled({ fleet, db }: Place, asked: Asked): Promise<void> {
  const api = fleet.api(0);
  for (const room of asked.rooms) {
    const expected = asked.scheduled.filter(({ conversationId }) => conversationId === room);
    const sent = await messagesOf(api, room);
    const key = (id: string, text: unknown) => `${id} ${text}`;
    assert.deepEqual(
      sent.map(({ id, text }) => key(id, text)).sort(),
      expected.map(({ messageId, draft }) => key(messageId, (draft as { text: string }).text)).sort(),
      'each is in the history once',
    );
    assert.deepEqual(sent.map(({ seq }) => seq).sort(byNumber), dense(expected.length));
    assert.deepEqual(await api.call('listScheduled', { room }), [], 'nothing waits');
    const [row] = await db.query<{ count: number }>(sql`
      select count(*) as count from events where topic = ${`chat/${room}`} and type = 'message.created'`);
    assert.equal(row?.count, expected.length, 'each was announced once');
  }
}

const byNumber = (a: number, b: number): number => a - b;

async function imported({ fleet }: Place, { imported: { room, lines } }: Asked): Promise<void> {
  const api = fleet.api(0);
  const expected = messagesIn(lines);
  const found = await messagesOf(api, room);
  assert.deepEqual(
    found.map(({ seq, text, senderId, createdAt }) => [seq, text, senderId, createdAt]),
    expected.map(({ text, senderId, createdAt }, at) => [at + 1, text, senderId, createdAt]),
    'each message once, in its order, at its time',
  );
  const counts = found.map(({ reactions }) => reactions.map(({ count }) => count).join());
  assert.deepEqual(
    counts,
    expected.map((_, at) => (at % 5 === 0 ? '3' : '')),
    'each reaction once',
  );
  const { messageCount, memberCount } = await api.call('getConversation', { room });
  assert.deepEqual([messageCount, memberCount], [expected.length, 3]);
  const marks = await marksOf(api, room, ['ida', 'ivo', 'ian']);
  assert.deepEqual(marks, [expected.length, expected.length, expected.length - 50], 'what each has read');
}

type Line = Record<string, unknown> & { kind: string };

async function exported({ fleet }: Place, { history, people, jobs }: Asked): Promise<void> {
  const job = await fleet.api(0).call('getDataJob', { jobId: jobs.export });
  assert.deepEqual([job.state, job.error], ['DONE', null]);
  const answer = await fetch(reachable(fleet, job.url ?? ''));
  assert.equal(answer.status, 200);
  const lines = (await answer.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  const of = (kind: string) => lines.filter((line) => line.kind === kind);
  const own = history.before.filter(({ senderId }) => senderId === people.exported);
  assert.deepEqual(
    of('message')
      .map(({ id }) => String(id))
      .sort(),
    own.map(({ id }) => id).sort(),
    'each of their messages once',
  );
  // Those to messages of whom is erased go with these, before the export or after it.
  const stays = new Set(history.before.filter(({ senderId }) => senderId !== people.erased).map(({ id }) => id));
  const reactedTo = of('reaction').map(({ messageId }) => String(messageId));
  assert.equal(new Set(reactedTo).size, reactedTo.length, 'no reaction twice');
  assert.deepEqual(
    reactedTo.filter((id) => stays.has(id)).sort(),
    history.before
      .filter(({ id, reactions }) => stays.has(id) && reactions.length > 0)
      .map(({ id }) => id)
      .sort(),
    'each of their reactions once',
  );
  const files = history.files.filter(({ userId }) => userId === people.exported);
  const fetched = of('attachment').map(async ({ id, url }) => {
    const file = await fetch(reachable(fleet, String(url)));
    return `${id} ${await file.text()}`;
  });
  assert.deepEqual((await Promise.all(fetched)).sort(), files.map(({ id, content }) => `${id} ${content}`).sort());
  for (const other of [people.kept, people.erased])
    assert.equal(
      lines.find((line) => JSON.stringify(line).includes(other)),
      undefined,
      'nothing of others',
    );
  assert.equal(lines.length, job.progress + 1);
}

/** What everybody sees of a message. */
const shown = ({ id, seq, text, senderId, createdAt, reactions, attachment }: Message, left: number) => [
  [id, seq, text, senderId, createdAt, attachment?.id ?? null].join(' '),
  reactions.length === 0 ? 0 : left,
];

async function erased({ fleet, db }: Place, { history, people, jobs }: Asked): Promise<void> {
  const api = fleet.api(0);
  const job = await api.call('getDataJob', { jobId: jobs.erasure });
  assert.deepEqual([job.state, job.error, job.userId], ['DONE', null, null]);
  assert.deepEqual(await placesOf(db, people.erased), [], 'they are in no column');
  const left = await messagesOf(api, history.room);
  const expected = history.before.filter(({ senderId }) => senderId !== people.erased);
  assert.deepEqual(
    left.map((message) => shown(message, message.reactions[0]?.count ?? 0)),
    expected.map((message) => shown(message, 2)),
    'what others wrote and how they reacted stays, and nothing else',
  );
  const { messageCount, memberCount } = await api.call('getConversation', { room: history.room });
  assert.deepEqual([messageCount, memberCount], [expected.length, 2]);
  const marks = await marksOf(api, history.room, [people.kept, people.exported]);
  assert.deepEqual(marks, history.marks, 'what the others have read');
  await assertFiles(db, { history, people });
}

/** Rows say which files there are; those of the others are fetched by `exported`. */
async function assertFiles(db: Place['db'], { history, people }: Pick<Asked, 'history' | 'people'>): Promise<void> {
  const ids = history.files.map(({ id }) => id);
  const rows = await db.query<{ id: string }>(sql`
    select id from attachments where id = any(${ids}) and status = 'ATTACHED'`);
  assert.deepEqual(
    rows.map(({ id }) => id).sort(),
    history.files
      .filter(({ userId }) => userId !== people.erased)
      .map(({ id }) => id)
      .sort(),
    'the files of the others are there, and no more',
  );
}

/** Each job says once that it is done. */
async function announced({ db }: Place, { jobs }: Asked): Promise<void> {
  for (const [name, id] of Object.entries(jobs)) {
    const rows = await db.query<{ type: string }>(sql`
      select type from events where type in ('data_job.done', 'data_job.failed') and strpos(data::text, ${id}) > 0`);
    assert.deepEqual(
      rows.map(({ type }) => type),
      ['data_job.done'],
      name,
    );
  }
}
