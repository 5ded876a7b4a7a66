import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { joinAs, mint, newRoom, type RoomsService, sharedRooms } from '../../../testkit/clients/rooms.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { failure } from '../../../testkit/kit/failure.ts';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
import { sql } from '../../core/sql.ts';
import { createUsageCounts } from '../../core/usage-counts.ts';
import { costOf, microsOf, moneyOf } from './costs.ts';
import { addRecorded, raiseStored, takeTick } from './meter-store.ts';

let service: RoomsService;
before(async () => {
  service = await sharedRooms();
});

const dayMs = 24 * 60 * 60 * 1000;
const daysAgo = (days: number): string => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);
const yesterday = daysAgo(1);

/** A stay of yesterday, with a token that the project's key minted. */
async function used(minutes: number) {
  const project = await service.newProject();
  const { api, id } = project;
  const room = await newRoom(api);
  const { tokenId } = await mint(api, room, 'ada');
  const from = `${yesterday}T10:00:00.000Z`;
  const to = new Date(Date.parse(from) + minutes * 60_000).toISOString();
  await service.adapters.db.execute(sql`
    insert into participant_sessions (id, project_id, environment, room_id, room_session_id, identity, kind, token_id,
      permissions, process_id, resume_hash, created_at, joined_at, left_at, ended_at)
    values (${`u-${id}`}, ${id}, 'DEVELOPMENT', ${room.id}, 'rs', 'ada', 'MEMBER', ${tokenId}, '{}', 'p', ''::bytea,
      ${from}, ${from}, ${to}, ${to})`);
  const [key] = await project.owner.api.call('listApiKeys', { projectId: id });
  return { project, projectId: id, owner: project.owner.api, keyId: key?.publicId ?? assert.fail('no key') };
}

/** As if it had been counted. */
const metered = (projectId: string, meter: string, keyId: string, value: number) =>
  service.adapters.db.execute(sql`
    insert into usage_meters (project_id, environment, day, meter, key_id, value)
    values (${projectId}, 'DEVELOPMENT', ${yesterday}, ${meter}, ${keyId}, ${value})`);

test('[OBS-45] usage is reported by day and by the key behind it, minutes also before they are metered', async () => {
  const { project, projectId, owner, keyId } = await used(3.5);
  const { id: room } = await project.api.call('createConversation', { body: { name: 'talk' } });
  for (const text of ['one', 'two']) await project.api.call('sendMessage', { room, body: { senderId: 'ada', text } });
  const { token } = await project.api.call('mintChatToken', { body: { userId: 'ada' } });
  await project.api.call('addConversationMember', { room, body: { userId: 'ada' } });
  await service.as(token).call('sendMessage', { room, body: { text: 'three' } });
  await service.service.usage.storeCounts();
  await metered(projectId, 'storedBytes', '', 5_000);
  await metered(projectId, 'sentBytes', '', 7_000);
  const read = () => owner.call('getProjectUsageReport', { projectId, query: { from: yesterday } });
  const unmetered = await read();
  await service.service.usage.meter();
  for (const { days, keys, total, currency } of [unmetered, await read()]) {
    const none = { messages: 0, minutes: 0, recordedMinutes: 0, storedBytes: 0, sentBytes: 0, cost: null };
    const [today, before] = days;
    assert.deepEqual(today, { date: daysAgo(0), ...none, messages: 3 });
    assert.deepEqual(before, { date: yesterday, ...none, minutes: 3.5, storedBytes: 5_000, sentBytes: 7_000 });
    assert.deepEqual(keys, [
      { keyId: null, ...none, storedBytes: 5_000, sentBytes: 7_000 },
      { keyId, ...none, messages: 3, minutes: 3.5 },
    ]);
    assert.deepEqual(total, { ...none, messages: 3, minutes: 3.5, storedBytes: 5_000, sentBytes: 7_000 });
    assert.equal(currency, null);
  }
  assert.equal((await project.api.call('getUsageReport')).total.messages, 3);
  const elsewhere = await owner.call('getProjectUsageReport', { projectId, query: { environment: 'PRODUCTION' } });
  assert.deepEqual([elsewhere.days.length, elsewhere.total.minutes, elsewhere.keys], [30, 0, []]);
  const viewer = await project.member('VIEWER');
  const seen = await viewer.api.call('getProjectUsageReport', { projectId });
  assert.deepEqual([seen.keys, seen.total.minutes], [null, 3.5]);
  for (const query of [
    { from: daysAgo(0), to: yesterday },
    { from: '2020-01-01' },
    { from: 'monday' },
    { from: '0000-01-01', to: '0000-01-02' },
    { to: '0001-01-01' },
    { to: '0000-01-01' },
  ])
    await assert.rejects(owner.call('getProjectUsageReport', { projectId, query }), failure('SVC_VALIDATION_FAILED'));
});

test('[OBS-46] there is no cost without prices; with them it is exact, and days, keys and the total agree', async () => {
  const { project, projectId, owner, keyId } = await used(3.5);
  // A third of a millionth each: what is rounded is one row, never a sum.
  for (const [key, value] of [
    ['', 1],
    [keyId, 2],
    ['sgk_1', 5],
  ] as const)
    await metered(projectId, 'messages', key, value);
  const unset = await owner.call('getUsagePrices', { projectId });
  assert.deepEqual(new Set(Object.values(unset)), new Set([null]));
  const prices = { ...unset, currency: 'EUR', messages: '0.000334', minutes: '0.10' };
  const stored = await owner.call('setUsagePrices', { projectId, body: prices });
  assert.deepEqual(stored, { ...prices, minutes: '0.1' });
  const { currency, days, keys, total } = await owner.call('getProjectUsageReport', { projectId });
  const sum = (rows: readonly { cost: string | null }[]): string =>
    moneyOf(rows.reduce((whole, { cost }) => whole + microsOf(cost ?? assert.fail('no cost')), 0n));
  assert.equal(currency, 'EUR');
  assert.equal(total.cost, '0.350003');
  assert.deepEqual([sum(days), sum(keys ?? [])], [total.cost, total.cost]);
  const { metadata } =
    (await owner.call('listAuditLogs', { projectId, query: { action: 'usage_prices.updated' } }))[0] ?? {};
  assert.deepEqual(metadata, {});
  const developer = await project.member('DEVELOPER');
  await assert.rejects(
    developer.api.call('setUsagePrices', { projectId, body: prices }),
    failure('SVC_PERMISSION_DENIED'),
  );
  for (const wrong of [{ messages: '0.0000001' }, { messages: '-1' }, { messages: '1e3' }, { currency: 'euro' }])
    await assert.rejects(
      owner.call('setUsagePrices', { projectId, body: { ...prices, ...wrong } }),
      failure('SVC_VALIDATION_FAILED'),
    );
  await owner.call('setUsagePrices', { projectId, body: { ...prices, currency: null } });
  assert.deepEqual(await owner.call('getUsagePrices', { projectId }), unset);
  // Beyond what a float holds.
  assert.equal(
    moneyOf(costOf('sentBytes', 9_007_199_254_740_991, { currency: 'EUR', prices: { sentBytes: '1' } })),
    '9.007199',
  );
});

test('[OBS-47] the report is a CSV file: a line for each day, key and meter', async () => {
  const { project, projectId, owner, keyId } = await used(2);
  await metered(projectId, 'messages', 'sgk_1', 2_000);
  await metered(projectId, 'messages', '', 500);
  await owner.call('setUsagePrices', {
    projectId,
    body: {
      currency: 'EUR',
      messages: '0.5',
      minutes: null,
      recordedMinutes: null,
      storedBytes: null,
      sentBytes: null,
    },
  });
  const csv = async (accessToken: string): Promise<string[]> => {
    const answer = await service.fetch(`/v1/projects/${projectId}/usage/export`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    assert.match(answer.headers.get('content-type') ?? '', /^text\/csv/);
    return (await answer.text()).split('\r\n');
  };
  assert.deepEqual(await csv(project.owner.accessToken), [
    'date,key,meter,amount,unit,price,price_per,currency,cost',
    `${yesterday},,messages,500,messages,0.5,"1,000 messages",EUR,0.250000`,
    `${yesterday},sgk_1,messages,2000,messages,0.5,"1,000 messages",EUR,1.000000`,
    `${yesterday},${keyId},minutes,120000,ms,,"minute of a participant",EUR,`,
    '',
  ]);
  const viewer = await project.member('VIEWER');
  const [, ...lines] = await csv(viewer.accessToken);
  assert.deepEqual(lines, [
    `${yesterday},,messages,2500,messages,0.5,"1,000 messages",EUR,1.250000`,
    `${yesterday},,minutes,120000,ms,,"minute of a participant",EUR,`,
    '',
  ]);
});

test('[OBS-48] recorded time and stored bytes are metered once, however many processes do it', async () => {
  const { api, id } = await service.newProject();
  const room = await newRoom(api, { recording: true });
  await newRoom(api, { recording: true });
  await joinAs(service, api, room, 'ada');
  const { db } = service.adapters;
  const day = daysAgo(0);
  const amountOf = (meter: string) => sql`
    select value from usage_meters where project_id = ${id} and meter = ${meter} and day = ${day}`;
  await db.execute(sql`
    insert into quota_uses (name, owner, used) values ('STORAGE_MAX_BYTES_PER_PROJECT', ${`${id} DEVELOPMENT`}, 900)`);
  const [recorded, stored] = await eventually(() =>
    db.transaction(async (tx) => {
      const [first] = await tx.query<{ value: number }>(amountOf('recordedMinutes'));
      await addRecorded(tx, day, 60_000);
      await raiseStored(tx, day);
      const [second] = await tx.query<{ value: number }>(amountOf('recordedMinutes'));
      const [bytes] = await tx.query<{ value: number }>(amountOf('storedBytes'));
      return [(second?.value ?? 0) - (first?.value ?? 0), bytes?.value];
    }),
  );
  assert.deepEqual([recorded, stored], [60_000, 900]);
  const versionOf = sql`select ctid::text from usage_meters where project_id = ${id} and meter = 'storedBytes'`;
  const version = await db.query(versionOf);
  await db.transaction((tx) => raiseStored(tx, day));
  assert.deepEqual(await db.query(versionOf), version, 'what is as it was is not written every minute');
  const name = `tick of ${id}`;
  const take = (at: string): Promise<number> => db.transaction((tx) => takeTick(tx, name, at));
  assert.equal(await take('2026-01-01T00:00:00.000Z'), 0);
  const both = await Promise.all([take('2026-01-01T00:01:01.000Z'), take('2026-01-01T00:01:01.000Z')]);
  assert.deepEqual(both.sort(), [0, 61_000]);
  assert.equal(await take('2026-01-01T00:00:30.000Z'), 0);
  assert.equal(await take('2026-01-01T00:01:02.000Z'), 1_000);
});

test('[OBS-48] what a store did not take is counted on', async () => {
  const clock = createFakeClock();
  const counts = createUsageCounts({ clock });
  const scope = { projectId: 'p', environment: 'DEVELOPMENT' } as const;
  counts.add('messages', scope, 'key', 2);
  const taken = counts.take();
  counts.add('messages', scope, 'key', 1);
  counts.add('messages', scope, null, 1);
  counts.giveBack(taken);
  assert.deepEqual(
    counts.take().map(({ keyId, value }) => [keyId, value]),
    [
      ['key', 3],
      ['', 1],
    ],
  );
  assert.deepEqual(counts.take(), []);
});
