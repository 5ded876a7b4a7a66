import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOTHING } from '../metrics.ts';
import type { PipeOrder } from '../pipes/legs.ts';
import { Directory } from './directory.ts';
import { Spread } from './spread.ts';
import type { WorkerLoad } from './worker-protocol.ts';

const room = 'room_1';

function stage(busyPercent: number | null, busy: readonly number[]) {
  const directory = new Directory();
  directory.controller('c1');
  directory.open({ room }, 0, 'c1');
  const workers = busy.map((percent, index) => {
    const orders: PipeOrder[] = [];
    const order = (one: PipeOrder) => void orders.push(one);
    const load: WorkerLoad | undefined = NOTHING;
    return {
      isReady: true,
      busyPercent: percent,
      load,
      reports: 1,
      pid: 100 + index,
      pipePort: 5000 + index,
      orders,
      order,
    };
  });
  const spread = new Spread({ workers, directory, busyPercent });
  const join = (identity: string, index: number) =>
    directory.own({ room, participant: `ps_${identity}` }, identity, 'c1', index);
  return { directory, workers, spread, join };
}

test('[PIPE-13] who joins goes to the first process of the room that has time, then to another, then to the least busy', () => {
  const { directory, workers, spread, join } = stage(60, [59, 0, 0]);
  const [first, second, third] = workers;
  assert.ok(first && second && third);
  assert.equal(spread.place(room, 'ada'), 0, 'the room stays in one process while that has time');
  first.busyPercent = 60;
  second.isReady = false;
  assert.equal(spread.place(room, 'ada'), 2, 'not to one that restarts');
  directory.open({ room }, 2, 'c1');
  second.isReady = true;
  assert.equal(spread.place(room, 'ada'), 2, 'no third process while the second has time');
  for (const [worker, percent] of [[first, 95] as const, [second, 85] as const, [third, 90] as const])
    worker.busyPercent = percent;
  assert.equal(spread.place(room, 'ada'), 2, 'all are busy: another only where it is clearly less so');
  second.busyPercent = 61;
  assert.equal(spread.place(room, 'ada'), 1);
  join('ada', 0);
  assert.equal(spread.place(room, 'ada'), 0, 'a second session goes where the first is');
  assert.equal(stage(null, [99, 0]).spread.place(room, 'ada'), 0, 'switched off');
});

test('[PIPE-42] a crowd is spread before its load shows: who joined counts until then', () => {
  const { directory, workers, spread } = stage(60, [0, 40]);
  const [first, second] = workers;
  assert.ok(first && second);
  const crowd = (people: number) => {
    const counts = [0, 0];
    for (let count = 0; count < people; count += 1) {
      const index = spread.place(room, `guest-${count}`) ?? -1;
      counts[index] = (counts[index] ?? 0) + 1;
      directory.open({ room }, index, 'c1');
    }
    return counts;
  };
  const report = (worker: typeof first, busyPercent: number, participants: number) =>
    Object.assign(worker, { busyPercent, load: { ...NOTHING, participants }, reports: worker.reports + 1 });
  assert.deepEqual(crowd(75), [60, 15], 'as much as a handshake each');
  assert.equal(spread.isBusy, false);
  assert.deepEqual(crowd(5), [0, 5]);
  assert.equal(spread.isBusy, true, 'another node is next');
  report(first, 10, 60);
  report(second, 40, 20);
  assert.equal(spread.isBusy, true, 'their first load shows little of them');
  report(first, 36, 18);
  report(second, 44, 22);
  assert.equal(spread.isBusy, false);
  assert.deepEqual(crowd(14), [12, 2], 'what each costs there on average');
  for (const _ of [1, 2, 3]) report(first, 58, 30);
  assert.equal(spread.place(room, 'late'), 0, 'those of long ago are in the load');
});

test('[PIPE-14] two processes have one pipe, with a secret of its own, and another one after either restarted', () => {
  const { directory, workers, spread } = stage(60, [0, 0]);
  const [first, second] = workers;
  assert.ok(first && second);
  directory.open({ room }, 1, 'c1');
  spread.link(room, 1);
  spread.link(room, 1);
  const openings = () => first.orders.flatMap((order) => (order.order === 'open' ? [order.settings] : []));
  assert.equal(openings().length, 1);
  const [theirs] = second.orders.flatMap((order) => (order.order === 'open' ? [order.settings] : []));
  const [ours] = openings();
  assert.deepEqual([ours?.secret, ours?.id, ours?.peerId], [theirs?.secret, theirs?.peerId, theirs?.id]);
  assert.deepEqual([ours?.port, theirs?.port, ours?.end, theirs?.end], [5001, 5000, 'a', 'b']);
  spread.lose(1);
  assert.deepEqual(first.orders.at(-1), { order: 'close', peer: '1' });
  second.pid = 200;
  spread.link(room, 1);
  assert.equal(openings().length, 2);
  assert.notEqual(openings()[1]?.secret, ours?.secret);
});
