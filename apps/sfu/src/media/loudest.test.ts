import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Loudest, Voice, type Voiced } from './loudest.ts';
import type { OtherLegs } from './other-legs.ts';
import { Publication } from './publication.ts';
import { Room } from './room.ts';
import { Speakers } from './speakers.ts';

const newMicrophone = (id: string): Publication =>
  new Publication({
    id,
    request: { cid: 'c', kind: 'AUDIO', source: 'MICROPHONE' },
    encoding: { codec: { name: 'opus', pt: 111 }, red: undefined },
    mid: '0',
    rids: [],
    extensionIds: {},
    publishedAt: 0,
    events: { keyFrameNeeded() {}, started() {}, audioLevel() {}, queued() {} },
  });

/** A room without transports, in one process. */
function newRoom(): Room {
  const legs = { owners: () => [], joined() {}, left() {}, published() {}, changed() {}, unpublished() {} };
  const otherLegs: OtherLegs = {
    ...legs,
    demandChanged: () => false,
    sendData: () => 0,
    tick() {},
    report() {},
    close() {},
  };
  return new Room(
    { id: 'room', emptyTimeoutMs: 60_000, dataFallback: { sentPerSecond: 1, receivedPerSecond: 1 } },
    {
      clock: { now: () => 0, wall: () => 0 },
      random: () => 0,
      newTrackId: () => 'trk',
      newTransport: () => assert.fail('no media here'),
      candidates: () => [],
      newLegs: () => otherLegs,
      emit() {},
      onDataDropped() {},
    },
  );
}

/** Ten microphones; `speak` sends as many packets of 20 ms, a quiet one of everybody else beside each. */
function rig(people = 60) {
  const restarts: number[] = [];
  const tracks = Array.from({ length: 10 }, (_, index): Voiced => {
    const subscriptions = [{ restart: () => void restarts.push(index) }];
    return { voice: new Voice(), isAudible: true, subscriptions };
  });
  const loudest = new Loudest();
  for (const [index, track] of tracks.entries()) loudest.add(track, `p-${index}`);
  let now = 0;
  function speak(levels: Record<number, number>, packets: number): number[] {
    for (let packet = 0; packet < packets; packet += 1) {
      now += 20;
      for (const [index, { voice }] of tracks.entries()) voice?.hear(levels[index] ?? 127, now);
      loudest.tick(now, () => people);
    }
    return tracks.flatMap(({ isAudible }, index) => (isAudible ? [index] : []));
  }
  return { tracks, loudest, speak, restarts };
}

test('[MED-96] in a large room the loudest three are forwarded, and who was among them for two seconds more', () => {
  const { speak, restarts } = rig();
  assert.deepEqual(speak({ 0: 20, 1: 22, 2: 24, 3: 40, 4: 41 }, 50), [0, 1, 2]);
  assert.deepEqual(restarts, [], 'nobody was cut off and let in again');
  assert.deepEqual(speak({ 0: 20, 1: 22, 7: 18 }, 50), [0, 1, 2, 7], 'the one who stopped is held');
  assert.deepEqual(restarts, [7]);
  assert.deepEqual(speak({ 0: 20, 1: 22, 7: 18 }, 100), [0, 1, 7]);
  assert.deepEqual(speak({}, 100), [0, 1, 7], 'a pause');
  assert.deepEqual(speak({}, 50), []);
});

test('[MED-96] a little louder is not enough to take a place, and never more than six are forwarded', () => {
  const { speak } = rig();
  speak({ 0: 20, 1: 20, 2: 20 }, 50);
  assert.deepEqual(speak({ 0: 20, 1: 20, 2: 20, 3: 18 }, 50), [0, 1, 2]);
  for (const start of [3, 4, 5, 6, 7]) speak({ [start]: 5, [start + 1]: 5, [start + 2]: 5 }, 15);
  assert.equal(speak({ 7: 5, 8: 5, 9: 5 }, 5).length, 6);
});

test('[MED-97] up to 50 everybody is forwarded, and a microphone that says no level always is', () => {
  const small = rig(50);
  assert.equal(small.speak({ 0: 20 }, 20).length, 10);
  const { tracks, speak } = rig();
  const [first] = tracks;
  const level = first?.voice;
  if (level) level.hear = () => {};
  assert.deepEqual(speak({ 5: 20 }, 50), [0, 5]);
});

test('[MED-96] a room of 51 forwards by who is loudest, and everybody again when one leaves', () => {
  const room = newRoom();
  const join = (id: string): void => {
    const permissions = { join: true, subscribe: false, publish: true, publishAudio: false, publishVideo: false };
    const init = { id, identity: id, order: 0, isAutoSubscribed: true, isPlain: false, isAdaptive: false };
    room.add({ ...init, permissions: { ...permissions, publishData: false } });
  };
  for (let index = 0; index < 51; index += 1) join(`p-${index}`);
  const owner = room.get('p-0');
  const microphones = Array.from({ length: 5 }, (_, index) => newMicrophone(`trk_${index}`));
  for (const microphone of microphones) room.offerTrack(owner, microphone);
  for (const [index, { voice }] of microphones.entries()) voice?.hear(index === 4 ? 10 : 127, 1000);
  room.tick(1000);
  assert.deepEqual(
    microphones.map(({ isAudible }) => isAudible),
    [false, false, false, false, true],
  );
  room.remove('p-50', 'CLIENT_INITIATED');
  room.tick(1200);
  assert.ok(microphones.every(({ isAudible }) => isAudible));
});

test('[MED-98] of many who speak the loudest twenty are announced', () => {
  const speakers = new Speakers();
  for (let packet = 0; packet < 25; packet += 1)
    for (let index = 0; index < 100; index += 1) speakers.addLevel(`p-${index}`, index % 40);
  const announced = speakers.takeChanges();
  assert.equal(announced.length, 20);
  assert.ok(announced.every(({ active }) => active));
});
