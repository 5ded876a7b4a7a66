import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Api } from '@parley/server';
import {
  type Answers,
  createReplicaStage,
  fromPrimary,
  fromReplica,
  type ReplicaStage,
} from '../../../../testkit/kit/replica-stage.ts';
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
let stage: ReplicaStage;
let laterMs = 0;

before(async () => {
  if (skip) return;
  stage = createReplicaStage(url ?? '');
  service = await startService({
    clock: { ...systemClock, elapsed: () => systemClock.elapsed() + laterMs },
    wrap: stage.wrap,
  });
});

after(async () => {
  if (skip) return;
  await service.stop();
  await stage.close();
});

const follow = <T>(work: () => Promise<T>): Promise<{ got: T; by: Answers }> => stage.follow(service, work);

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

  await stage.whileHeld(async () => {
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
  await stage.whileHeld(async () => {
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
  await stage.whileHeld(async () => {
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
  await stage.whileHeld(async () => {
    await api.call('createConversation', { body: { name: 'new' } });
    assert.deepEqual(await follow(overview), { got: 1, by: { replica: 0, behind: 2, away: 0 } });
  });
  assert.deepEqual(await follow(overview), { got: 1, by: both });
});

const find = (api: Api, query: object = {}) =>
  api.call('searchMessages', { query: { q: 'walrus', sort: 'newest', ...query } });
/** What a search of everything finds, and whether that is all there is. */
const found = (api: Api) => async () => {
  const { results, complete } = await find(api);
  return { texts: results.map(({ message }) => message.text), complete };
};

test('[STA-20] a search is answered by a replica that has all that was committed before, and by the primary otherwise', {
  skip,
}, async () => {
  const { api, say } = await makeConversation();
  const sweep = () => service.service.chat.sweep.search();
  const [{ id: first }, { id: second }] = [await say('walrus one'), await say('walrus two')];
  const both = { texts: ['walrus two', 'walrus one'], complete: true };
  assert.deepEqual(await follow(found(api)), { got: both, by: fromReplica }, 'before there are terms');
  await sweep();
  assert.deepEqual(await follow(found(api)), { got: both, by: fromReplica }, 'by their terms');

  const three = { texts: ['walrus three', 'walrus one'], complete: true };
  await stage.whileHeld(async () => {
    await say('walrus three');
    await api.call('editMessage', { messageId: second, body: { text: 'penguin' } });
    assert.deepEqual(await follow(found(api)), { got: three, by: fromPrimary });
    await sweep();
    assert.deepEqual(await follow(found(api)), { got: three, by: fromPrimary });
  });
  assert.deepEqual(await follow(found(api)), { got: three, by: fromReplica });

  stage.setAway(true);
  await api.call('deleteMessage', { messageId: first });
  const one = { texts: ['walrus three'], complete: true };
  assert.deepEqual(await follow(found(api)), { got: one, by: { replica: 0, behind: 0, away: 1 } });
  stage.setAway(false);
  laterMs += 5_000;
  assert.deepEqual(await follow(found(api)), { got: one, by: fromReplica });
});

test('[STA-16] [STA-20] who may read what a replica has found is asked of the primary, also in more conversations than are named', {
  skip,
}, async () => {
  const { api, room, say } = await makeConversation();
  // The index is asked for each of 200 conversations, but not for more: then the statement itself asks who is a member.
  for (let made = 0; made < 201; made += 67)
    await Promise.all(
      Array.from({ length: 67 }, (_, at) =>
        api.call('createConversation', { body: { name: `more-${made + at}`, members: ['bob'] } }),
      ),
    );
  await say('walrus');
  const { token } = await api.call('mintChatToken', { body: { userId: 'bob', scopes: ['chat:read'] } });
  const bob = service.as(token);
  const seen = async () => (await found(bob)()).texts;
  assert.deepEqual(await follow(seen), { got: ['walrus'], by: fromReplica });
  await stage.whileHeld(
    async () => {
      await api.call('removeConversationMember', { room, userId: 'bob' });
      assert.deepEqual(await follow(seen), { got: [], by: fromReplica });
    },
    { isUnnoticed: true },
  );
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
  stage.setAway(true);
  assert.deepEqual(await follow(texts), { got: ['first'], by: { replica: 0, behind: 0, away: 1 } });
  // Nobody waits for it again so soon.
  assert.deepEqual(await follow(texts), { got: ['first'], by: { replica: 0, behind: 0, away: 0 } });
  assert.deepEqual(await diagnose(), {
    status: 'DEGRADED',
    own: 'DEGRADED',
    message: 'The replica is away. Reads go to the primary.',
  });
  stage.setAway(false);
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

test('[STA-20] all statements of a search are of one session, which says itself how far it is', async () => {
  let isThere = true;
  const follower = fakeServer(() => true);
  const asked: string[] = [];
  const session = fakeServer(() => isThere);
  const query: Db['query'] = (statement) => {
    asked.push(statement.text);
    return session.query(statement);
  };
  // Behind its address there is another replica, which may be further behind than the one that was asked first.
  const transaction: Db['transaction'] = (work) => work({ ...session, query, isTransaction: true });
  const replica = createReplica({ primary: fakeServer(() => true), db: { ...follower, transaction } });
  const read = () =>
    replica.readCurrent(async (from) => {
      await from.query(sql`select 'terms'`);
      await from.query(sql`select 'messages'`);
      return 'answer';
    }, 0);
  assert.equal(await read(), 'answer');
  assert.deepEqual(asked.slice(1), [`select 'terms'`, `select 'messages'`]);
  isThere = false;
  assert.equal(await read(), null);
  assert.equal(asked.length, 4);
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
