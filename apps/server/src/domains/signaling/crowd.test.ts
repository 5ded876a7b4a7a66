import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { joinAs, mintMany, newRoom, type RoomsService, sharedRooms } from '../../../testkit/clients/rooms.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { crowdARoom, fillRoom } from '../../../testkit/proofs/room-races.ts';

/** Each of 49 offers is answered before the next one comes. */
const offersMs = 60_000;

let service: RoomsService;
let second: TestService;
before(async () => {
  service = await sharedRooms();
  second = await startService({ beside: service });
});
after(async () => {
  await second.stop();
});

test('[SIG-13] of a crowd that joins at once over two processes exactly 50 get in, and a place that is left is taken again', () =>
  crowdARoom({ service, second, crowd: 64 }));

test('[SIG-14] a join into 98 tracks takes at most 30 counted messages and no frame above 16384 bytes', async () => {
  const project = await service.newProject();
  const room = await newRoom(project.api);
  const tokens = await mintMany(service, project, room, 49, { metadata: '😀'.repeat(300) });
  const crowd = await fillRoom([service.url, second.url], tokens);
  const newcomer = await joinAs(service, project.api, room, 'newcomer');
  newcomer.answerOffers();
  await eventually(() => assert.equal(newcomer.offered().size, 98), { withinMs: offersMs });
  const [own] = await newcomer.publish('AUDIO');
  assert.ok(own);
  assert.equal(newcomer.others.length, 49);
  assert.equal(newcomer.others.flatMap(({ tracks }) => tracks).length, 98);
  assert.ok(newcomer.counted() <= 30, `${newcomer.counted()} counted messages`);
  for (const one of [newcomer, ...crowd]) assert.ok(one.largest() <= 16_384, `a frame of ${one.largest()} bytes`);
  assert.ok(newcomer.frames.filter(({ type }) => type === 'joined.more').length > 0);
  for (const one of [newcomer, ...crowd]) one.ws.terminate();
});
