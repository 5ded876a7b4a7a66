import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stageCrowd } from '../../testkit/crowd-stage.ts';

/** So many with a camera, of which each sees two; long after the last of them came. */
async function crowdOf(people: number, takesStates = true) {
  const crowd = stageCrowd({ maxVisible: 2, takesStates });
  for (let index = 0; index < people; index += 1) await crowd.enter(`old-${index}`);
  await crowd.pass(2000);
  return crowd;
}

type Crowd = Awaited<ReturnType<typeof crowdOf>>;

/** Which states a participant is told from now on, an array for each event. */
function listen(crowd: Crowd, id: string) {
  const before = crowd.statesTo(id).gathered.length;
  return () =>
    crowd
      .statesTo(id)
      .gathered.slice(before)
      .map(({ states }) => states.map(({ trackId, state, reason }) => [trackId, reason ?? state]));
}

const count = (last: ReadonlyMap<string, string>, state: string): number =>
  [...last.values()].filter((one) => one === state).length;

test('[MED-122] who joins sixty cameras and sees two is told in a few events, and the last state of each is right', async () => {
  const crowd = await crowdOf(60);
  await crowd.enter('new');
  const told = crowd.statesTo('new').gathered.map(({ states }) => states.length);
  assert.deepEqual(told.slice(0, 1), [58], 'the first at once');
  for (const id of ['old-0', 'old-1']) crowd.show(id, 1);
  await crowd.pass(1000);
  const { singles, gathered, last } = crowd.statesTo('new');
  assert.ok(gathered.length <= 3, `${gathered.length} events`);
  assert.equal(singles, 0);
  assert.deepEqual([count(last, 'SETTINGS'), last.size], [58, 60]);
  assert.deepEqual([last.get(crowd.cameraOf('old-0')), last.get(crowd.cameraOf('old-1'))], ['ACTIVE', 'ACTIVE']);
  assert.equal(last.get(crowd.cameraOf('new')), undefined);
});

test('[MED-122] who is there is told twice a second at most, however many join with cameras and are muted', async () => {
  const crowd = await crowdOf(60);
  const told = listen(crowd, 'old-0');
  for (let index = 0; index < 30; index += 1) {
    await crowd.enter(`new-${index}`);
    crowd.mute(`old-${10 + index}`, true);
    await crowd.pass(100);
  }
  assert.ok(told().length <= 7, `${told().length} events in three seconds`);
  await crowd.pass(1000);
  assert.equal(told().flat().length, 60, 'each change once');
  assert.equal(crowd.statesTo('old-0').last.get(crowd.cameraOf('new-29')), 'SETTINGS');
});

test('[MED-122] what changes meanwhile is told as it is then, and what is gone or as before is not', async () => {
  const crowd = await crowdOf(60);
  const [a, b] = ['old-10', 'old-11'].map(crowd.cameraOf);
  const told = listen(crowd, 'old-0');
  crowd.mute('old-10', true);
  await crowd.pass(100);
  assert.deepEqual(told(), [[[a, 'MUTED']]], 'the first at once');
  for (const id of ['old-11', 'old-12', 'old-13']) crowd.mute(id, true);
  await crowd.pass(100);
  crowd.mute('old-10', false);
  crowd.mute('old-12', false);
  await crowd.pass(100);
  await crowd.leave('old-13');
  assert.equal(told().length, 1);
  await crowd.pass(300);
  assert.deepEqual(told().slice(1), [
    [
      [a, 'SETTINGS'],
      [b, 'MUTED'],
    ],
  ]);
  await crowd.pass(2000);
  assert.equal(told().length, 2);
});

test('[MED-122] another transport is told all there is at once, and who has left nothing', async () => {
  const crowd = await crowdOf(60);
  const told = listen(crowd, 'old-0');
  const toldLeaver = listen(crowd, 'old-1');
  crowd.mute('old-10', true);
  await crowd.pass(100);
  for (const id of ['old-11', 'old-12']) crowd.mute(id, true);
  crowd.room.get('old-0').subscriber.restart();
  crowd.room.remove('old-1', 'CLIENT_INITIATED');
  crowd.room.allocate(10_000);
  assert.equal(told().length, 1, 'nothing before the transport is agreed upon');
  await crowd.settle();
  const [, whole = [], ...more] = told();
  assert.deepEqual([whole.length, more], [56, []], 'sixty but itself, the leaver and the two that it sees');
  assert.equal(whole.filter(([, state]) => state === 'MUTED').length, 3);
  await crowd.pass(1000);
  assert.equal(toldLeaver().length, 1);
});

test('[MED-122] up to fifty people each state is an event of its own, at once', async () => {
  const crowd = await crowdOf(50);
  const before = crowd.statesTo('old-0').singles;
  for (const id of ['old-10', 'old-11', 'old-12']) {
    crowd.mute(id, true);
    crowd.room.allocate(2000);
  }
  const { singles, gathered } = crowd.statesTo('old-0');
  assert.deepEqual([singles - before, gathered], [3, []]);
});

test('[MED-123] a control plane that does not know states together gets each at once, no matter who is there', async () => {
  const crowd = await crowdOf(60, false);
  await crowd.enter('new');
  assert.equal(crowd.statesTo('new').singles, 58);
  crowd.mute('old-10', true);
  await crowd.pass(100);
  const { singles, gathered, last } = crowd.statesTo('new');
  assert.deepEqual([singles, gathered, last.get(crowd.cameraOf('old-10'))], [59, [], 'MUTED']);
});
