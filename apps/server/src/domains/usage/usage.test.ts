import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { joinAs, mint, newRoom, type RoomsService, sharedRooms, startRooms } from '../../../testkit/clients/rooms.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { failure } from '../../../testkit/kit/failure.ts';
import { sql } from '../../core/sql.ts';

let service: RoomsService;
before(async () => {
  service = await sharedRooms();
});

/** Writes a stay as the rooms domain leaves it. */
async function stay(
  projectId: string,
  roomId: string,
  id: string,
  joinedAt: string,
  leftAt: string | null,
): Promise<void> {
  await service.adapters.db.execute(sql`
    insert into participant_sessions (id, project_id, environment, room_id, room_session_id, identity, kind, token_id,
      permissions, process_id, resume_hash, created_at, joined_at, left_at, ended_at)
    values (${id}, ${projectId}, 'DEVELOPMENT', ${roomId}, 'rs', ${id}, 'MEMBER', 't', '{}', 'p', ''::bytea,
      ${joinedAt}, ${joinedAt}, ${leftAt}, ${leftAt})`);
}

test('[USE-1] a stay counts from join to leave, split at midnight UTC, once however often it is metered', async () => {
  const { api, id, owner } = await service.newProject();
  const room = await newRoom(api);
  const today = new Date().toISOString().slice(0, 10);
  const yesterday = new Date(Date.parse(today) - 86_400_000).toISOString().slice(0, 10);
  const before = new Date(Date.parse(yesterday) - 86_400_000).toISOString().slice(0, 10);
  await stay(id, room.id, `s1-${id}`, `${before}T23:59:00.000Z`, `${yesterday}T00:02:00.000Z`);
  await stay(id, room.id, `s2-${id}`, `${yesterday}T10:00:00.000Z`, `${yesterday}T10:00:30.000Z`);
  const read = () => owner.api.call('getProjectUsage', { projectId: id, query: { days: 3 } });
  const unmetered = await read();
  await Promise.all([service.service.usage.meter(), service.service.usage.meter(), service.service.usage.meter()]);
  await service.service.usage.meter();
  const metered = await read();
  for (const usage of [unmetered, metered]) {
    assert.equal(usage.usedMinutes, 3.5);
    assert.deepEqual(usage.daily, [
      { date: today, minutes: 0, sessions: 0 },
      { date: yesterday, minutes: 2.5, sessions: 1 },
      { date: before, minutes: 1, sessions: 1 },
    ]);
  }
  assert.deepEqual(
    metered.sessions.map(({ id: stayId, seconds, minutes }) => [stayId.slice(0, 2), seconds, minutes]),
    [
      ['s2', 30, 0.5],
      ['s1', 180, 3],
    ],
  );
  assert.deepEqual(metered.projects, [{ projectId: id, name: 'Test', minutes: 3.5, sessions: 2 }]);
  assert.equal((await api.call('getUsage')).usedMinutes, 3.5);
});

test('[USE-2] an open stay is counted up to now, and the account sums what it owns', async () => {
  const { api, id } = await service.newProject();
  const room = await newRoom(api);
  await joinAs(service, api, room, 'ada');
  const live = await eventually(async () => {
    const usage = await api.call('getUsage');
    assert.ok(usage.usedMinutes > 0);
    return usage;
  });
  assert.deepEqual([live.freeMinutes, live.periodEnd, live.remainingMinutes < 20_000], [20_000, null, true]);
  const stranger = await service.newPerson();
  assert.equal((await stranger.api.call('getUsage')).usedMinutes, 0);
  assert.deepEqual((await stranger.api.call('getUsageDetail')).projects, []);
  await assert.rejects(stranger.api.call('getProjectUsage', { projectId: id }), failure('SVC_PROJECT_NOT_FOUND'));
  for (const query of [{ days: 0 }, { days: 366 }, { limit: 201 }])
    await assert.rejects(stranger.api.call('getUsageDetail', { query }), failure('SVC_VALIDATION_FAILED'));
});

test('[USE-3] the allowance only reports, unless it is enforced', async () => {
  const strict = await startRooms({ env: { USAGE_ENFORCE: 'true', USAGE_FREE_RTC_MINUTES: '1' } });
  try {
    const { api, id } = await strict.newProject();
    const room = await newRoom(api);
    await mint(api, room, 'ada');
    await strict.adapters.db.execute(sql`
      insert into usage_days (project_id, environment, day, seconds, sessions) values (${id}, 'DEVELOPMENT', '2026-01-01', 61, 1)`);
    const other = await strict.newProject();
    const otherRoom = await newRoom(other.api);
    await assert.rejects(
      mint(other.api, otherRoom, 'ada'),
      failure('SVC_QUOTA_EXCEEDED'),
      'the account is one, over all its projects',
    );
  } finally {
    await strict.stop();
  }
});

test('[USE-4] a participant who vanished and is ended later is counted up to the moment they vanished', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const ada = await joinAs(service, api, room, 'ada');
  const { db } = service.adapters;
  const found = async () => {
    const [row] = await db.query<{ lost: string | null; left: string | null }>(sql`
      select signal_lost_at as lost, left_at as left from participant_sessions where room_id = ${room.id}`);
    return row;
  };
  ada.ws.terminate();
  await eventually(async () => assert.ok((await found())?.lost));
  await api.call('closeRoom', { id: room.id });
  const { lost, left } = (await found()) ?? {};
  assert.ok(lost && left);
  assert.equal(left, lost);
});
