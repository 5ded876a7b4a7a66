import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createHeldReplica, type HeldReplica } from '../../../../testkit/kit/held-replica.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { systemClock } from '../../../core/clock.ts';
import { DatabaseUnavailable, type Db, type Replica } from '../../../core/db.ts';
import { createLog } from '../../../core/log.ts';
import { createMetrics } from '../../../core/metrics.ts';
import { createReplicatedReads } from '../../../core/replicated-reads.ts';
import { sql } from '../../../core/sql.ts';
import { createPostgres } from './postgres.ts';
import { createReplica } from './replica.ts';

const url = process.env['PARLEY_TEST_DATABASE_URL'];
const skip = !url && 'no PARLEY_TEST_DATABASE_URL';

let service: TestService;
let replica: HeldReplica;
let laterMs = 0;

before(async () => {
  if (skip) return;
  service = await startService({
    clock: { ...systemClock, elapsed: () => systemClock.elapsed() + laterMs },
    wrap: (adapters) => {
      replica = createHeldReplica(adapters.db, url ?? '');
      return { ...adapters, replica };
    },
  });
});

after(async () => {
  if (skip) return;
  await service.stop();
  await replica.close();
});

type Answers = Record<'replica' | 'behind' | 'away', number>;

/** Who answered the reads of `work`, and what they gave. */
async function follow<T>(work: () => Promise<T>): Promise<{ got: T; by: Answers }> {
  const before = await countAnswers();
  const got = await work();
  const now = await countAnswers();
  const since = (name: keyof Answers): number => now[name] - before[name];
  return { got, by: { replica: since('replica'), behind: since('behind'), away: since('away') } };
}

async function countAnswers(): Promise<Answers> {
  const text = await (await service.fetch('/metrics')).text();
  const of = (result: string): number =>
    Number(new RegExp(`parley_replica_reads_total\\{result="${result}"\\} (\\d+)`).exec(text)?.[1]);
  return { replica: of('replica'), behind: of('behind'), away: of('away') };
}

/** Nothing more is replayed while `work` runs. */
async function whileHeld(work: () => Promise<void>): Promise<void> {
  await replica.hold();
  try {
    await work();
  } finally {
    await replica.release();
  }
}

const fromReplica = { replica: 1, behind: 0, away: 0 };
const fromPrimary = { replica: 0, behind: 1, away: 0 };

async function makeConversation() {
  const { api } = await service.newProject(await service.newPerson('replica'));
  const { id: room } = await api.call('createConversation', { body: { name: 'read', members: ['ada', 'bob'] } });
  const say = (text: string) => api.call('sendMessage', { room, body: { senderId: 'ada', text } });
  const texts = async () => (await api.call('listMessages', { room, query: {} })).messages.map(({ text }) => text);
  return { api, room, say, texts };
}

test('[STA-15] history comes from a replica that has every change of the conversation, and from the primary otherwise', {
  skip,
}, async () => {
  const { api, room, say, texts } = await makeConversation();
  const other = await makeConversation();
  const { id: messageId } = await say('first');
  assert.deepEqual(await follow(texts), { got: ['first'], by: fromReplica });

  await whileHeld(async () => {
    // What happens elsewhere is nothing to this conversation.
    await other.say('elsewhere');
    assert.deepEqual(await follow(texts), { got: ['first'], by: fromReplica });
    assert.deepEqual(await follow(other.texts), { got: ['elsewhere'], by: fromPrimary });
    await say('second');
    assert.deepEqual(await follow(texts), { got: ['second', 'first'], by: fromPrimary });
    await api.call('editMessage', { messageId, body: { text: 'edited' } });
    assert.deepEqual(await follow(texts), { got: ['second', 'edited'], by: fromPrimary });
    const changes = () => api.call('listChanges', { room, query: {} });
    const { got, by } = await follow(changes);
    assert.deepEqual([got.complete, by], [true, fromPrimary]);
  });
  assert.deepEqual(await follow(texts), { got: ['second', 'edited'], by: fromReplica });
});

test('[STA-16] who may read is asked of the primary: a replica that is behind lets nobody in who was removed', {
  skip,
}, async () => {
  const { api, room, say } = await makeConversation();
  await say('secret');
  const { token } = await api.call('mintChatToken', { body: { userId: 'bob', scopes: ['chat:read'] } });
  const read = () => service.as(token).call('listMessages', { room, query: {} });
  assert.equal((await read()).messages.length, 1);
  await whileHeld(async () => {
    // Without a change, so that only the gate can tell.
    await service.adapters.db.execute(sql`update conversation_members set active = false where user_id = 'bob'`);
    await assert.rejects(read());
  });
});

test('[STA-15] data that was restored is another life: equal numbers of changes are not the same changes', {
  skip,
}, async () => {
  const { say, texts } = await makeConversation();
  await say('first');
  const lineage = service.adapters.db;
  await whileHeld(async () => {
    await lineage.execute(sql`update chat_lineage set seed = 'another life'`);
    assert.deepEqual(await follow(texts), { got: ['first'], by: fromPrimary });
  });
  await lineage.execute(sql`update chat_lineage set seed = null`);
});

test('[STA-17] lists of the dashboard contain all that was committed before, from the replica once it has replayed that', {
  skip,
}, async () => {
  const owner = await service.newPerson('lists');
  const { id: projectId, api } = await service.newProject(owner);
  const overview = async () => {
    const { conversations } = await owner.api.call('getChatOverview', { projectId, query: {} });
    return conversations.total;
  };
  const both = { replica: 2, behind: 0, away: 0 };
  assert.deepEqual(await follow(overview), { got: 0, by: both });
  await whileHeld(async () => {
    await api.call('createConversation', { body: { name: 'new' } });
    assert.deepEqual(await follow(overview), { got: 1, by: { replica: 0, behind: 2, away: 0 } });
  });
  assert.deepEqual(await follow(overview), { got: 1, by: both });
});

test('[STA-18] while the replica is away the primary answers, diagnostics say so, and it is asked again later', {
  skip,
}, async () => {
  const { api, say, texts } = await makeConversation();
  await say('first');
  const diagnose = async () => {
    const { status, dependencies } = await api.call('getDiagnostics');
    const { status: own, message } = dependencies.find(({ name }) => name === 'databaseReplica') ?? {};
    return { status, own, message };
  };
  assert.deepEqual(await diagnose(), { status: (await diagnose()).status, own: 'OK', message: null });
  replica.setAway(true);
  assert.deepEqual(await follow(texts), { got: ['first'], by: { replica: 0, behind: 0, away: 1 } });
  // Nobody waits for it again so soon.
  assert.deepEqual(await follow(texts), { got: ['first'], by: { replica: 0, behind: 0, away: 0 } });
  assert.deepEqual(await diagnose(), {
    status: 'DEGRADED',
    own: 'DEGRADED',
    message: 'The replica is away. Reads go to the primary.',
  });
  replica.setAway(false);
  laterMs += 5_000;
  assert.deepEqual(await follow(texts), { got: ['first'], by: fromReplica });
});

test('[STA-18] a server that follows another database is not read from', { skip }, async () => {
  const foreign = createReplica({ primary: service.adapters.db, db: createPostgres({ url: url ?? '', poolSize: 1 }) });
  const isRefused = { name: 'DatabaseUnavailable', message: 'DATABASE_READ_URL is not a replica of DATABASE_URL.' };
  await assert.rejects(foreign.look(), isRefused);
  await assert.rejects(foreign.queryCurrent(sql`select 1`), isRefused);
  await foreign.close();
});

/** A server of the same cluster that says this of its place in the log; null: it follows nobody. */
function fakeServer(isThere: () => boolean | null): Db {
  const query = async ({ text }: { text: string }) => [text.includes('isThere') ? { isThere: isThere() } : { id: '1' }];
  return { query, ping: async () => 0, close: async () => {} } as unknown as Db;
}

test('[STA-18] a server that follows nobody, be it the primary or one that was promoted, is not read from', async () => {
  let isThere: boolean | null = null;
  const replica = createReplica({ primary: fakeServer(() => true), db: fakeServer(() => isThere) });
  const isRefused = { name: 'DatabaseUnavailable', message: 'DATABASE_READ_URL is not a replica of DATABASE_URL.' };
  await assert.rejects(replica.query(sql`select 1`), isRefused);
  await assert.rejects(replica.look(), isRefused);
  isThere = true;
  await replica.query(sql`select 1`);
  // Its sessions live on when it is promoted: the next look at the log tells.
  isThere = null;
  await assert.rejects(replica.look(), isRefused);
  await assert.rejects(replica.query(sql`select 1`), isRefused);
});

test('[STA-18] a replica that cannot be known once, by its password or its time, is asked again', async () => {
  let problem: Error | null = new Error('password authentication failed');
  const known = fakeServer(() => true);
  const query: Db['query'] = (statement) => (problem ? Promise.reject(problem) : known.query(statement));
  const replica = createReplica({ primary: known, db: { ...known, query } });
  await assert.rejects(replica.query(sql`select 1`), { name: 'DatabaseUnavailable', message: /password/ });
  problem = null;
  await replica.query(sql`select 1`);
});

test('[STA-18] while it is away one read at a time asks whether it is back, and no other waits', async () => {
  let elapsed = 0;
  const silence = Promise.withResolvers<never>();
  let asked = 0;
  const reads = createReplicatedReads({
    db: {} as Db,
    replica: {} as Replica,
    clock: { ...systemClock, elapsed: () => elapsed },
    log: createLog('silent'),
    metrics: createMetrics(),
  });
  const away = (): Promise<never> => Promise.reject(new DatabaseUnavailable('away'));
  assert.equal(await reads.fromReplica(away), null);
  elapsed += 5_000;
  const hanging = reads.fromReplica(() => silence.promise);
  assert.equal(await reads.fromReplica(async () => ++asked), null);
  silence.reject(new DatabaseUnavailable('hangs'));
  assert.deepEqual([await hanging, asked], [null, 0]);
  elapsed += 5_000;
  assert.equal(await reads.fromReplica(async () => ++asked), 1);
  assert.equal(await reads.fromReplica(async () => ++asked), 2);
});
