import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createFakeClock, type FakeClock } from '../../../testkit/kit/fake-clock.ts';
import type { Clock } from '../../core/clock.ts';
import type { ExpiringSets } from '../../core/ports.ts';

export function expiringSetsContract(
  name: string,
  open: (clock: Clock) => Promise<{ first: ExpiringSets; second: ExpiringSets; close(): Promise<void> }>,
): void {
  let clock: FakeClock;
  let opened: Awaited<ReturnType<typeof open>>;
  before(async () => {
    clock = createFakeClock();
    opened = await open(clock);
  });
  after(() => opened.close());

  const names = async (sets: ExpiringSets, set: string) => (await sets.members(set)).map(({ member }) => member).sort();

  test(`[STA-3] ${name}: a member lives until its time is up, and touching it again prolongs it`, async () => {
    const { first, second } = opened;
    assert.deepEqual(await first.touch('room/1', 'ada', 10_000, 'v1'), { isNew: true });
    assert.deepEqual(await second.touch('room/1', 'bob', 5_000), { isNew: true });
    clock.jump(4_000);
    assert.deepEqual(await second.touch('room/1', 'ada', 10_000, 'v2'), { isNew: false });
    const members = (await first.members('room/1')).sort((a, b) => a.member.localeCompare(b.member));
    assert.deepEqual(members, [
      { member: 'ada', value: 'v2', expiresAt: clock.now() + 10_000 },
      { member: 'bob', value: '', expiresAt: clock.now() + 1_000 },
    ]);
    clock.jump(1_000);
    assert.deepEqual(await names(first, 'room/1'), ['ada']);
    assert.deepEqual(await second.includes('room/1', ['bob', 'ada', 'nobody']), [false, true, false]);
    assert.deepEqual([await first.includes('nothing', ['ada']), await first.includes('room/1', [])], [[false], []]);
    assert.equal(await second.count('room/1'), 1);
    assert.deepEqual(await first.touch('room/1', 'bob', 5_000), { isNew: true });
  });

  test(`[STA-3] ${name}: many at once are as each alone, over sets, in the order they were given`, async () => {
    const { first, second } = opened;
    await first.touch('bulk/a', 'ada', 10_000, 'v1');
    const entries = [
      { set: 'bulk/a', member: 'bob', value: 'b' },
      { set: 'bulk/b', member: 'ada' },
      { set: 'bulk/a', member: 'ada' },
    ];
    assert.deepEqual(await second.touchAll(entries, 20_000), [true, true, false]);
    assert.deepEqual(await first.touchAll(entries.toReversed(), 20_000), [false, false, false]);
    const known = new Map((await first.members('bulk/a')).map(({ member, value }) => [member, value]));
    assert.deepEqual([...known].sort(), [
      ['ada', ''],
      ['bob', 'b'],
    ]);
    const crowd = Array.from({ length: 1_200 }, (_, i) => ({ set: `bulk/${i % 7}`, member: `u${i}`, value: 'x' }));
    assert.deepEqual(new Set(await first.touchAll(crowd, 20_000)), new Set([true]));
    assert.equal(await second.count('bulk/3'), 171);
    const gone = [{ set: 'bulk/a', member: 'ada' }, { set: 'bulk/b', member: 'nobody' }, ...crowd];
    assert.deepEqual((await second.removeAll(gone)).slice(0, 3), [true, false, true]);
    assert.deepEqual([await first.count('bulk/3'), await first.count('bulk/a')], [0, 1]);
    assert.deepEqual([await first.touchAll([], 1_000), await first.removeAll([])], [[], []]);
  });

  test(`[STA-3] ${name}: who is prolonged lives on with the value that it has; who has expired, left or never came does not come back`, async () => {
    const { first, second } = opened;
    await first.touch('long/1', 'ada', 10_000, 'v1');
    await first.touch('long/1', 'bob', 10_000, 'v2');
    await first.touch('long/2', 'ada', 10_000);
    await first.touch('long/2', 'brief', 1_000);
    clock.jump(9_000);
    const asked = [
      { set: 'long/1', member: 'ada' },
      { set: 'long/2', member: 'ada' },
      { set: 'long/1', member: 'nobody' },
      { set: 'long/2', member: 'brief' },
      { set: 'long/3', member: 'ada' },
      { set: 'long/1', member: 'bob' },
    ];
    assert.deepEqual(await second.prolongAll(asked, 20_000), [true, true, false, false, false, true]);
    assert.deepEqual(await second.prolongAll(asked.slice(0, 2), 20_000), [true, true], 'in the same moment again');
    clock.jump(19_000);
    const expiresAt = clock.now() + 1_000;
    assert.deepEqual(
      (await first.members('long/1')).sort((a, b) => a.member.localeCompare(b.member)),
      [
        { member: 'ada', value: 'v1', expiresAt },
        { member: 'bob', value: 'v2', expiresAt },
      ],
    );
    assert.deepEqual([await names(second, 'long/2'), await first.count('long/3')], [['ada'], 0]);
    const crowd = Array.from({ length: 1_200 }, (_, i) => ({ set: `long/${10 + (i % 7)}`, member: `u${i}` }));
    await first.touchAll(crowd.slice(1), 20_000);
    assert.deepEqual(
      (await second.prolongAll(crowd, 20_000)).flatMap((isThere, i) => (isThere ? [] : [i])),
      [0],
    );
    assert.deepEqual(await first.prolongAll([], 1_000), []);
    clock.jump(20_000);
    const swept = (await first.sweep('long/', 5_000)).map(({ set, member, value }) => `${set} ${member} ${value}`);
    assert.equal(swept.length, 1_203, 'as of the last time, each once');
    assert.ok(swept.includes('long/1 bob v2') && swept.includes('long/2 brief '));
  });

  test(`[STA-3] ${name}: removing says whether the member was there`, async () => {
    const { first, second } = opened;
    await first.touch('room/2', 'ada', 10_000);
    assert.equal(await second.remove('room/2', 'ada'), true);
    assert.equal(await first.remove('room/2', 'ada'), false);
    assert.deepEqual(await first.members('room/2'), []);
    assert.equal(await first.count('nothing'), 0);
  });

  test(`[STA-3] ${name}: a sweep gives each expired member once, of its prefix only, up to its limit`, async () => {
    const { first, second } = opened;
    for (let i = 0; i < 40; i += 1) await first.touch(`typing/${i % 4}`, `u${i}`, 1_000, `value${i}`);
    await first.touch('typing/0', 'late', 5_000);
    await first.touch('presence/0', 'elsewhere', 1_000);
    assert.deepEqual(await first.sweep('typing/', 100), []);
    clock.jump(1_000);
    const few = await first.sweep('typing/', 7);
    assert.equal(few.length, 7);
    const rest = (await Promise.all([first, second, first, second].map((sets) => sets.sweep('typing/', 100)))).flat();
    const all = [...few, ...rest];
    assert.deepEqual(
      all.map(({ set, member, value }) => `${set} ${member} ${value}`).sort(),
      Array.from({ length: 40 }, (_, i) => `typing/${i % 4} u${i} value${i}`).sort(),
    );
    assert.deepEqual(await names(first, 'typing/0'), ['late']);
    clock.jump(4_000);
    assert.deepEqual(await second.sweep('typing/', 100), [{ set: 'typing/0', member: 'late', value: '' }]);
    assert.deepEqual(await second.sweep('presence/', 100), [{ set: 'presence/0', member: 'elsewhere', value: '' }]);
  });

  test(`[STA-3] ${name}: a member that was touched again or removed is not swept`, async () => {
    const { first } = opened;
    await first.touch('again/1', 'kept', 1_000);
    await first.touch('again/1', 'gone', 1_000);
    clock.jump(900);
    await first.touch('again/1', 'kept', 1_000);
    await first.remove('again/1', 'gone');
    clock.jump(200);
    assert.deepEqual(await first.sweep('again/', 100), []);
    assert.deepEqual(await names(first, 'again/1'), ['kept']);
  });
}
