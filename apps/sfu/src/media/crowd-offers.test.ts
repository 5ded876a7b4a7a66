import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stageCrowd } from '../../testkit/crowd-stage.ts';

const SECONDS = 3;
const NEWCOMERS_A_SECOND = 20;

/** So many with an open microphone are there, and quiet. */
async function crowdOf(people: number) {
  const crowd = stageCrowd();
  for (let index = 0; index < people; index += 1) await crowd.enter(`old-${index}`);
  await crowd.pass(2000);
  return crowd;
}

test('[MED-117] in a large room who is there gets two offers a second, however many join with open microphones', async () => {
  const crowd = await crowdOf(60);
  const before = crowd.offersTo('old-0');
  for (let index = 0; index < SECONDS * NEWCOMERS_A_SECOND; index += 1) {
    const id = `new-${index}`;
    await crowd.enter(id);
    if (index === 0) assert.equal(crowd.offersTo('old-0').count, before.count + 1, 'the first at once');
    assert.equal(crowd.offersTo(id).tracks, 60 + index, 'who joins is offered all there is, without waiting');
    await crowd.pass(1000 / NEWCOMERS_A_SECOND);
  }
  const count = crowd.offersTo('old-0').count - before.count;
  assert.ok(count <= SECONDS * 2 + 1, `${count} offers`);
  await crowd.pass(500);
  const people = 60 + SECONDS * NEWCOMERS_A_SECOND;
  for (const id of ['old-0', 'old-59', 'new-0', 'new-30']) {
    assert.equal(crowd.tracksOf(id), people - 1);
    assert.equal(crowd.offersTo(id).tracks, people - 1, `${id} was offered each track once`);
  }
  // Who comes and goes in between is never offered.
  await crowd.pass(1000);
  const { count: settled } = crowd.offersTo('old-0');
  await crowd.leave('new-0');
  assert.equal(crowd.offersTo('old-0').count, settled + 1);
  await crowd.enter('passing');
  await crowd.leave('passing');
  await crowd.pass(500);
  assert.equal(crowd.offersTo('old-0').tracks, people - 1);
});

test('[MED-117] in a room of 50 each track is offered at once', async () => {
  const crowd = await crowdOf(40);
  for (let index = 0; index < 10; index += 1) {
    const { count } = crowd.offersTo('old-0');
    await crowd.enter(`new-${index}`);
    assert.equal(crowd.offersTo('old-0').count, count + 1);
    await crowd.pass(20);
  }
});
