import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { joinAs, mintMany, newRoom, type RoomsService, sharedRooms } from '../../../testkit/clients/rooms.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { fillRoom, stampede } from '../../../testkit/proofs/room-races.ts';

let service: RoomsService;
let second: TestService;
before(async () => {
  service = await sharedRooms();
  second = await startService({ beside: service });
});
after(async () => {
  await second.stop();
});

test('[SIG-13] of 200 who join at once over two processes exactly 50 get in, and a place that is left is taken again', async () => {
  const project = await service.newProject();
  const room = await newRoom(project.api);
  // Twenty who come later, none of whom was there before: whoever was would only take their own place again.
  const tokens = await mintMany(service, project, room, 220);
  const urls = [service.url, second.url];
  const { inside, refusals } = await stampede(urls, tokens.slice(0, 200));
  assert.equal(inside.length, 50);
  assert.deepEqual(new Set(refusals), new Set(['ROOM_FULL']));
  assert.equal((await project.api.call('getRoom', { id: room.id })).participantCount, 50);
  assert.equal(service.node.rooms().get(room.id)?.length, 50);
  inside[0]?.send({ type: 'leave' });
  await inside[0]?.whenClosed();
  const again = await stampede(urls, tokens.slice(200));
  assert.equal(again.inside.length, 1);
  assert.deepEqual(new Set(again.refusals), new Set(['ROOM_FULL']));
  assert.equal((await project.api.call('getRoom', { id: room.id })).participantCount, 50);
  for (const one of [...inside, ...again.inside]) one.ws.terminate();
});

test('[SIG-14] a join into 98 tracks takes at most 30 counted messages and no frame above 16384 bytes', async () => {
  const project = await service.newProject();
  const room = await newRoom(project.api);
  const tokens = await mintMany(service, project, room, 49, { metadata: '😀'.repeat(300) });
  const crowd = await fillRoom([service.url, second.url], tokens);
  const newcomer = await joinAs(service, project.api, room, 'newcomer');
  newcomer.answerOffers();
  await eventually(() => assert.equal(newcomer.offered().size, 98));
  const [own] = await newcomer.publish('AUDIO');
  assert.ok(own);
  assert.equal(newcomer.others.length, 49);
  assert.equal(newcomer.others.flatMap(({ tracks }) => tracks).length, 98);
  assert.ok(newcomer.counted() <= 30, `${newcomer.counted()} counted messages`);
  for (const one of [newcomer, ...crowd]) assert.ok(one.largest() <= 16_384, `a frame of ${one.largest()} bytes`);
  assert.ok(newcomer.frames.filter(({ type }) => type === 'joined.more').length > 0);
  for (const one of [newcomer, ...crowd]) one.ws.terminate();
});
