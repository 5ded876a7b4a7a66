import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Loudest, Voice, type Voiced } from './loudest.ts';
import type { OtherLegs } from './other-legs.ts';
import { Publication } from './publication.ts';
import { Room } from './room.ts';
import { Speakers } from './speakers.ts';

const newMicrophone = (id: string, source: 'MICROPHONE' | 'SCREEN_SHARE_AUDIO' = 'MICROPHONE'): Publication =>
  new Publication({
    id,
    request: { cid: 'c', kind: 'AUDIO', source },
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
    publishers: () => [],
    backupChanged() {},
    demandChanged: () => false,
    sendData: () => ({ sent: 0, refused: 0 }),
    announceDataFlow() {},
    leadingChoice: () => undefined,
    announceChoice() {},
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
function rig(people = 60, ownerOf = (index: number): string => `p-${index}`) {
  const restarts: number[] = [];
  const tracks = Array.from({ length: 10 }, (_, index): Voiced => {
    const subscriptions = [{ restart: () => void restarts.push(index) }];
    return { id: `trk_${index}`, voice: new Voice(), isAudible: true, subscriptions };
  });
  const loudest = new Loudest();
  for (const [index, track] of tracks.entries()) loudest.add(track, ownerOf(index));
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

test('[MED-97] the sound of a screen takes no place', () => {
  const loudest = new Loudest<Publication>();
  const screens = Array.from({ length: 4 }, (_, index) => newMicrophone(`trk_${index}`, 'SCREEN_SHARE_AUDIO'));
  const microphones = Array.from({ length: 4 }, (_, index) => newMicrophone(`trk_m${index}`));
  for (const [index, track] of [...screens, ...microphones].entries()) loudest.add(track, `p-${index}`);
  for (const { voice } of [...screens, ...microphones.slice(0, 3)]) voice?.hear(20, 1000);
  microphones[3]?.voice?.hear(127, 1000);
  loudest.tick(1000, () => 60);
  assert.deepEqual(
    [...screens, ...microphones].map(({ isAudible }) => isAudible),
    [true, true, true, true, true, true, true, false],
  );
});

test('[MED-100] a participant has one place, however many microphones they publish', () => {
  const { speak } = rig(60, (index) => `p-${Math.max(index, 3)}`);
  assert.deepEqual(speak({ 0: 1, 1: 0, 2: 1, 3: 1, 5: 30, 6: 31, 7: 40 }, 50).slice(1), [5, 6]);
});

test('[MED-100] who says to be louder than a voice at the microphone counts as that', () => {
  const { speak } = rig();
  speak({ 0: 15, 1: 15, 2: 15 }, 50);
  assert.deepEqual(speak({ 0: 15, 1: 15, 2: 15, 3: 0 }, 80), [0, 1, 2]);
});

test('[MED-101] who speaks for two seconds without a place gets one for five', () => {
  const { speak } = rig();
  const shouting = { 0: 0, 1: 0, 2: 0 };
  speak(shouting, 100);
  assert.deepEqual(speak({ ...shouting, 5: 40 }, 95), [0, 1, 2]);
  assert.deepEqual(speak({ ...shouting, 5: 40 }, 15), [0, 1, 2, 5], 'who yields is held for two seconds');
  assert.equal(speak({ ...shouting, 5: 40 }, 110).length, 3);
  assert.ok(speak({ ...shouting, 5: 40 }, 100).includes(5), 'five seconds, and held for two more');
  let heard = 0;
  for (let second = 0; second < 30; second += 1) if (speak({ ...shouting, 5: 40 }, 50).includes(5)) heard += 1;
  assert.ok(heard >= 20, `heard in ${heard} of 30 seconds`);
});

test('[MED-101] a turn ends with the words, and who is clearly louder than the rest is never cut off', () => {
  const { speak, restarts } = rig();
  const lecture = { 0: 20, 1: 45, 2: 45, 3: 45, 4: 45 };
  for (let second = 0; second < 40; second += 1) assert.ok(speak(lecture, 50).includes(0));
  assert.ok(!restarts.includes(0));
  assert.ok(
    [1, 2, 3, 4].every((index) => restarts.includes(index) || index < 3),
    'each of the others had a turn',
  );
  assert.deepEqual(speak({ 0: 20, 7: 30 }, 150), [0, 7]);
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
