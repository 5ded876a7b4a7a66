import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Room } from '@parley/contract';
import { joinAs, newRoom, type RoomsService, startRooms } from '../../../testkit/clients/rooms.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { createFakeClock, type FakeClock } from '../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import type { ProtocolNode } from '../../../testkit/peers/protocol-node.ts';

let service: RoomsService;
let second: TestService;
let clock: FakeClock;
let home: ProtocolNode;
let far: ProtocolNode;
before(async () => {
  clock = createFakeClock();
  service = await startRooms({ clock });
  second = await startService({ beside: service, clock });
  home = service.node;
  far = await service.newNode('node-far', { region: 'far' });
  // Rooms begin on the first.
  far.reports = { cpuPercent: 90 };
});
after(async () => {
  await second.stop();
  await service.stop();
});

type Client = Awaited<ReturnType<typeof joinAs>>;
interface Speaker {
  identity: string;
  level: number;
  active: boolean;
}
interface Frame {
  ts: number;
  speakers: Speaker[];
}

/** Joins one after the other: each process is to know both nodes of the room. */
async function openRoom(names: readonly [identity: string, region: string, at?: TestService][]) {
  for (const node of [home, far]) await node.heartbeat();
  const { api } = await service.newProject();
  const room = await newRoom(api, { maxParticipants: 49 });
  const clients = new Map<string, Client>();
  const join = (identity: string, region: string, at: TestService = service) =>
    joinAs({ ...service, url: at.url }, api, room, identity, { join: { region } });
  for (const [identity, ...where] of names) clients.set(identity, await join(identity, ...where));
  const one = (identity: string): Client => clients.get(identity) ?? assert.fail(identity);
  const close = () => Promise.all([...clients.values()].map((client) => client.close()));
  return { room, one, join, close };
}

const near = Array.from({ length: 15 }, (_, index) => `near-${index}`);
const away = Array.from({ length: 15 }, (_, index) => `away-${index}`);
const ofBoth = (at?: TestService): [string, string, TestService?][] => [
  ...near.map((identity): [string, string] => [identity, 'default']),
  ...away.map((identity): [string, string] => [identity, 'far']),
  ...(at
    ? ([
        ['watcher', 'default', at],
        ['watcher-2', 'far', at],
      ] as [string, string, TestService][])
    : []),
];

const say = (node: ProtocolNode, room: Room, ...speakers: Speaker[]): void =>
  node.emit('speakers', { room: room.id, speakers });
const speaks = (identity: string, level: number): Speaker => ({ identity, level, active: true });
const isSilent = (identity: string): Speaker => ({ identity, level: 0, active: false });
const framesOf = ({ frames }: Client): Frame[] => frames.filter(({ type }) => type === 'speakers') as never;
/** Who speaks for a client, loudest first. */
function speakingFor(client: Client): string[] {
  const all = new Map(framesOf(client).flatMap(({ speakers }) => speakers.map((one) => [one.identity, one])));
  const active = [...all.values()].filter((one) => one.active).sort((a, b) => b.level - a.level);
  return active.map(({ identity }) => identity);
}
const has = (client: Client, count: number): Promise<void> =>
  eventually(() => assert.equal(framesOf(client).length, count), { everyMs: 2 });
/** Until processes have heard what makes them wait. */
const waits = (ms: number, processes = 1): Promise<void> =>
  eventually(() => assert.equal(clock.sleeping().filter((one) => one === ms).length, processes), { everyMs: 2 });
/** Once something that comes after it has come. */
async function isHeard(node: ProtocolNode, room: Room, client: Client): Promise<void> {
  const heard = client.frames.length;
  node.emit('quality', { room: room.id, updates: [{ identity: 'nobody', quality: 'GOOD', score: 4 }] });
  await eventually(() => assert.ok(client.frames.length > heard), { everyMs: 2 });
}

/** The first 15 by name are the quietest. */
const homeSays = near.map((identity, index) => speaks(identity, 0.2 + index / 50));
const farSays = away.map((identity, index) => speaks(identity, 0.5 + index / 50));
const loudest = [...away, ...near.slice(10)];

test('[SIG-32] of those who speak on two nodes the loudest twenty are announced, by every process alike', async () => {
  const { room, one, close } = await openRoom(ofBoth(second));
  const watchers = [one('near-0'), one('away-0'), one('watcher'), one('watcher-2')];
  say(home, room, ...homeSays);
  for (const watcher of watchers) await has(watcher, 1);
  say(far, room, ...farSays);
  await waits(400, 2);
  await clock.advance(400);
  for (const watcher of watchers) {
    await has(watcher, 2);
    assert.deepEqual(new Set(speakingFor(watcher)), new Set(loudest));
    const [first, next] = framesOf(watcher);
    assert.equal(first?.speakers.length, 15);
    const pushedOut = next?.speakers.filter(({ active }) => !active);
    assert.deepEqual(pushedOut?.map(({ identity }) => identity).sort(), near.slice(0, 10).sort());
    assert.equal(next?.speakers.length, 15 + 10, 'only changes');
    assert.equal(new Set(watchers.map((each) => JSON.stringify(framesOf(each)))).size, 1, 'each gets the same');
  }

  // A step of less than 0.1, and somebody who has been said to be silent.
  await clock.advance(1_000);
  say(far, room, { ...(farSays[14] as Speaker), level: 0.8 });
  say(home, room, isSilent('near-0'));
  await isHeard(home, room, one('near-0'));
  assert.equal(framesOf(one('near-0')).length, 2);
  await close();
});

test('[SIG-32] the place of who leaves or falls silent is for the next, and who left is forgotten', async () => {
  const { room, one, join, close } = await openRoom(ofBoth());
  const watcher = one('near-0');
  say(far, room, ...farSays);
  await has(watcher, 1);
  await clock.advance(1_000);
  say(home, room, ...homeSays);
  await has(watcher, 2);
  assert.deepEqual(new Set(speakingFor(watcher)), new Set(loudest));

  await clock.advance(1_000);
  await one('away-14').close();
  await has(watcher, 3);
  assert.deepEqual(framesOf(watcher)[2]?.speakers, [homeSays[9]], 'clients forget who left by themselves');
  await clock.advance(1_000);
  say(far, room, isSilent('away-13'));
  await has(watcher, 4);
  assert.deepEqual(framesOf(watcher)[3]?.speakers, [homeSays[8], isSilent('away-13')]);

  // Its node had not heard of it yet.
  await clock.advance(1_000);
  say(far, room, speaks('away-14', 1));
  await isHeard(far, room, watcher);
  assert.equal(framesOf(watcher).length, 4);

  const back = await join('away-14', 'far');
  await watcher.take('participant.joined', ({ participant }) => (participant as Speaker).identity === 'away-14');
  say(far, room, farSays[14] as Speaker);
  await has(watcher, 5);
  assert.deepEqual(framesOf(watcher)[4]?.speakers, [farSays[14], isSilent('near-8')]);
  await back.close();
  await close();
});

test('[SIG-32] the first goes at once and what follows at most every 500 ms, however many nodes say something', async () => {
  const { room, one, close } = await openRoom([
    ['ada', 'default'],
    ['bob', 'far'],
  ]);
  const watcher = one('ada');
  const startedAt = clock.now();
  const seconds = 4;
  for (let turn = 0; turn < seconds * 10; turn += 1) {
    const level = turn % 4 < 2 ? 0.2 : 0.9;
    if (turn % 2 === 0) say(home, room, speaks('ada', level));
    else say(far, room, speaks('bob', level));
    if (turn === 0) await has(watcher, 1);
    await isHeard(turn % 2 === 0 ? home : far, room, watcher);
    await clock.advance(100);
  }
  await clock.advance(500);
  await isHeard(home, room, watcher);
  const sentAt = framesOf(watcher).map(({ ts }) => ts - startedAt);
  assert.equal(sentAt[0], 0);
  assert.ok(sentAt.length > seconds && sentAt.length <= seconds * 2 + 2, `${sentAt.length} frames`);
  const gaps = sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0));
  assert.ok(gaps.every((gap) => gap >= 400) && gaps.slice(1).every((gap) => gap >= 500), String(gaps));
  const last = framesOf(watcher).flatMap(({ speakers }) => speakers);
  assert.equal(last.findLast(({ identity }) => identity === 'ada')?.level, 0.9, 'nothing is lost');
  assert.equal(last.findLast(({ identity }) => identity === 'bob')?.level, 0.9);
  await close();
});

test('[SIG-32] what one process says every 500 ms goes on as it is and at once, also when its timer is not exact', async () => {
  const { room, one, close } = await openRoom([['ada', 'default']]);
  const ada = one('ada');
  const startedAt = clock.now();
  const saidAt: number[] = [];
  const said: Speaker[][] = [];
  for (const [turn, gap] of [500, 480, 520, 450, 550, 500, 410, 590, 501].entries()) {
    const level = 0.1 + ((turn * 3) % 10) / 10;
    const speakers = turn === 3 ? [isSilent('somebody')] : [speaks('ada', level), isSilent('bob')];
    said.push(speakers);
    saidAt.push(clock.now() - startedAt);
    say(home, room, ...speakers);
    await has(ada, turn + 1);
    await clock.advance(gap);
  }
  assert.deepEqual(
    framesOf(ada).map(({ ts }) => ts - startedAt),
    saidAt,
  );
  assert.deepEqual(
    framesOf(ada).map(({ speakers }) => speakers),
    said,
  );
  await close();
});

test('[SIG-32] a room that ends leaves no timer', async () => {
  const { room, one, close } = await openRoom([['ada', 'default']]);
  say(home, room, speaks('ada', 0.5));
  await has(one('ada'), 1);
  await clock.advance(7);
  say(home, room, speaks('ada', 0.9));
  await waits(393);
  await close();
  await waits(393, 0);
});
