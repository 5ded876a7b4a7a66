import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { joinAs, newRoom, type RoomsService, startRooms } from '../../../testkit/clients/rooms.ts';
import { joinRoom } from '../../../testkit/clients/signal-client.ts';
import { eventually, processWorkMs } from '../../../testkit/kit/eventually.ts';
import type { TestProject } from '../../../testkit/kit/people.ts';
import { startService } from '../../../testkit/kit/service.ts';
import type { ProtocolNode } from '../../../testkit/peers/protocol-node.ts';

let service: RoomsService;
let project: TestProject;
let home: ProtocolNode;
let next: ProtocolNode;
let far: ProtocolNode;
before(async () => {
  service = await startRooms();
  project = await service.newProject();
  home = service.node;
  next = await service.newNode('node-2');
  far = await service.newNode('node-far', { region: 'far' });
  // Rooms begin on the first.
  for (const node of [next, far]) {
    node.reports = { cpuPercent: 90 };
    await node.heartbeat();
  }
});
after(() => service.stop());

/** A room with ada at its home. */
async function openRoom() {
  const room = await newRoom(project.api);
  const ada = await joinAs(service, project.api, room, 'ada');
  assert.deepEqual(home.rooms().get(room.id), ['ada']);
  return { room, ada };
}
const join = (room: Awaited<ReturnType<typeof newRoom>>, identity: string, region?: string) =>
  joinAs(service, project.api, room, identity, region === undefined ? {} : { join: { region } });
const nodesToldOf = (node: ProtocolNode) => {
  const { nodes = [] } = (node.heard.get('room.link') ?? {}) as { nodes?: { node: string }[] };
  return nodes.map((one) => one.node).sort();
};
/** A node that was deaf, for the tests after this one. */
async function isBack(node: ProtocolNode): Promise<void> {
  const { connections } = node;
  node.isDeaf = false;
  await eventually(() => assert.ok(node.connections > connections, `${node.name} is not connected to`), {
    withinMs: processWorkMs,
  });
}

test('[PIPE-23] a room goes on at the next node of its region while its own is busy; all are in one room', async () => {
  const { room, ada } = await openRoom();
  home.isBusy = true;
  const bob = await join(room, 'bob');
  home.isBusy = false;
  assert.deepEqual(
    [home, next].map((node) => node.rooms().get(room.id)),
    [['ada'], ['bob']],
  );
  assert.deepEqual([nodesToldOf(home), nodesToldOf(next)], [['node-2'], ['node-1']]);
  await ada.take('participant.joined');
  const [trackId = ''] = await ada.publish('AUDIO');
  await bob.take('track.published');
  const speakers = [{ identity: 'ada', level: 0.5, active: true }];
  home.emit('speakers', { room: room.id, speakers });
  assert.deepEqual((await bob.take('speakers'))['speakers'], speakers, 'the speakers are told on both nodes');

  const cy = await join(room, 'cy');
  assert.deepEqual(home.rooms().get(room.id), ['ada', 'cy'], 'its first node has time again');
  home.isBusy = true;
  const dan = await join(room, 'dan');
  home.isBusy = false;
  const tracksOf = (identity: string) =>
    dan.others.find((one) => one.identity === identity)?.tracks.map(({ id }) => id);
  assert.deepEqual(tracksOf('ada'), [trackId], 'who joins sees the tracks of the other node');
  const participants = await project.api.call('listRoomParticipants', { id: room.id });
  assert.deepEqual(participants.map(({ identity }) => identity).sort(), ['ada', 'bob', 'cy', 'dan']);
  await Promise.all([ada, bob, cy, dan].map((client) => client.close()));
});

test('[PIPE-24] who asks for a region joins on a node there; without one, at the home of the room', async () => {
  const { room, ada } = await openRoom();
  const bob = await join(room, 'bob', 'far');
  assert.deepEqual(far.rooms().get(room.id), ['bob']);
  assert.equal(bob.joined.participant.region, 'far');
  const cy = await join(room, 'cy', 'default');
  const dan = await join(room, 'dan', 'nowhere');
  assert.deepEqual(home.rooms().get(room.id), ['ada', 'cy', 'dan']);
  await Promise.all([ada, bob, cy, dan].map((client) => client.close()));
});

test('[PIPE-49] a process of the server hears a node to which another one has taken the room', async (t) => {
  const second = await startService({ beside: service });
  t.after(() => second.stop());
  const { room, ada } = await openRoom();
  const bob = await joinAs(second, project.api, room, 'bob', { join: { region: 'far' } });
  assert.deepEqual(far.rooms().get(room.id), ['bob']);
  const speakers = [{ identity: 'bob', level: 0.5, active: true }];
  // Ada's process asks the node meanwhile.
  await eventually(() => {
    far.emit('speakers', { room: room.id, speakers });
    assert.ok(ada.frames.some(({ type }) => type === 'speakers'));
  });
  assert.deepEqual((await ada.take('speakers'))['speakers'], speakers);

  const third = await startService({ beside: service });
  t.after(() => third.stop());
  const { sessionId, resumeToken } = ada.joined;
  const resume = { sessionId, resumeToken, lastSeq: ada.highestSeq() };
  const back = await joinRoom(third.url, ada.token, { resume });
  assert.ok(back.joined.resumed);
  await eventually(() => {
    far.emit('speakers', { room: room.id, speakers: [{ identity: 'bob', level: Math.random(), active: true }] });
    assert.ok(
      back.frames.some(({ type }) => type === 'speakers'),
      'a process to which somebody has come back hears it too',
    );
  });
  await Promise.all([back, bob].map((client) => client.close()));
});

test('[PIPE-31] a region whose node refuses the home of the room, or is refused by it, is as good as none', async () => {
  const { room, ada } = await openRoom();
  far.refusesToMeet = 'FULL';
  const bob = await join(room, 'bob', 'far');
  far.refusesToMeet = null;
  home.refusesToMeet = 'STALE';
  const cy = await join(room, 'cy', 'far');
  home.refusesToMeet = null;
  assert.deepEqual(home.rooms().get(room.id), ['ada', 'bob', 'cy']);
  const dan = await join(room, 'dan', 'far');
  assert.deepEqual(far.rooms().get(room.id), ['dan']);
  await Promise.all([ada, bob, cy, dan].map((client) => client.close()));
});

test('[PIPE-17] a node that greets anew, since a process of it has restarted, is linked anew', async () => {
  const { room, ada } = await openRoom();
  const bob = await join(room, 'bob', 'far');
  for (const node of [home, far]) node.forget('room.link');
  far.disconnect();
  await eventually(() => {
    assert.deepEqual([nodesToldOf(home), nodesToldOf(far)], [['node-far'], ['node-1']]);
  });
  await ada.close();
  await bob.close();
});

test('[PIPE-30] a node that misses one question of the server and answers the next keeps its people', async () => {
  const { room, ada } = await openRoom();
  const bob = await join(room, 'bob', 'far');
  far.missesPings = 1;
  home.emit('node.silent', { room: room.id, node: 'node-far' });
  await eventually(() => assert.equal(far.missesPings, 0));
  far.forget('ping');
  await eventually(() => assert.ok(far.heard.has('ping'), 'it is asked again'));
  const cy = await join(room, 'cy', 'far');
  assert.equal(bob.closed, null);
  assert.deepEqual(far.rooms().get(room.id), ['bob', 'cy']);
  await Promise.all([ada, bob, cy].map((client) => client.close()));
});

test('[PIPE-25] a node that neither another node nor the server hears loses its people at once; the others stay', async () => {
  const { room, ada } = await openRoom();
  const bob = await join(room, 'bob', 'far');
  home.emit('node.silent', { room: room.id, node: 'node-far' });
  const cy = await join(room, 'cy', 'far');
  assert.equal(bob.closed, null, 'it answers the server: nobody is moved');
  far.isDeaf = true;
  far.disconnect();
  home.emit('node.silent', { room: room.id, node: 'node-far' });
  for (const client of [bob, cy]) assert.equal((await client.whenClosed()).code, 4503);
  assert.equal(ada.closed, null);
  await eventually(() => assert.deepEqual(nodesToldOf(home), []));
  const again = await joinRoom(service.url, bob.token, { join: { region: 'far' } });
  assert.ok(home.rooms().get(room.id)?.includes('bob'), 'back at once, where there is a node');
  await again.close();
  await ada.close();
  await isBack(far);
});

test('[PIPE-26] when the home of a room is drained, only its people move: another node of the room becomes its home', async () => {
  const { room, ada } = await openRoom();
  home.isBusy = true;
  const bob = await join(room, 'bob');
  home.isBusy = false;
  await project.owner.api.call('drainServer', { name: 'node-1', body: { force: true } });
  assert.equal((await ada.whenClosed()).code, 4503);
  assert.equal(bob.closed, null);
  const again = await joinRoom(service.url, ada.token);
  assert.equal(again.joined.room.serverName, 'node-2');
  assert.deepEqual(next.rooms().get(room.id), ['bob', 'ada']);
  await project.owner.api.call('undrainServer', { name: 'node-1' });
  await again.close();
  await bob.close();
});

test('[PIPE-25] [PIPE-26] when the home of a room is lost, its people come back; the others stay, and one of their nodes is the home', async () => {
  const { room, ada } = await openRoom();
  const bob = await join(room, 'bob', 'far');
  home.isBusy = true;
  const cy = await join(room, 'cy');
  home.isBusy = false;
  assert.deepEqual([far.rooms().get(room.id), next.rooms().get(room.id)], [['bob'], ['cy']]);
  await bob.take('participant.joined');

  home.isDeaf = true;
  home.disconnect();
  far.emit('node.silent', { room: room.id, node: 'node-1' });
  assert.equal((await ada.whenClosed()).code, 4503);
  assert.equal((await bob.take('participant.left'))['identity'], 'ada');
  await eventually(() => assert.deepEqual([nodesToldOf(far), nodesToldOf(next)], [['node-2'], ['node-far']]));
  const participants = await project.api.call('listRoomParticipants', { id: room.id });
  assert.deepEqual(participants.map(({ identity }) => identity).sort(), ['bob', 'cy']);

  const again = await joinRoom(service.url, ada.token);
  assert.equal(again.joined.room.serverName, 'node-far', 'the first of the others');
  assert.deepEqual(far.rooms().get(room.id), ['bob', 'ada']);
  await bob.publish('AUDIO');
  for (const client of [again, cy]) assert.equal((await client.take('track.published'))['identity'], 'bob');
  assert.deepEqual([bob.closed, cy.closed], [null, null]);
  await Promise.all([again, bob, cy].map((client) => client.close()));
  await isBack(home);
});

test('[PIPE-31] nobody joins on a node that the others of the room cannot be linked to: another is taken, else the home', async () => {
  const { room, ada } = await openRoom();
  const third = await service.newNode('node-3');
  third.reports = { cpuPercent: 95 };
  await third.heartbeat();
  home.isBusy = true;
  next.refusesToMeet = 'FULL';
  const bob = await join(room, 'bob');
  assert.deepEqual(third.rooms().get(room.id), ['bob'], 'the next node that has a place for the pipes');
  assert.deepEqual(nodesToldOf(home), ['node-3']);

  third.refusesToMeet = 'STALE';
  const cy = await join(room, 'cy');
  home.isBusy = false;
  assert.deepEqual(home.rooms().get(room.id), ['ada', 'cy'], 'none is left: where the room is');
  assert.deepEqual(third.rooms().get(room.id), ['bob'], 'who was there stays');
  next.refusesToMeet = null;
  await Promise.all([ada, bob, cy].map((client) => client.close()));
});

test('[PIPE-24] who joins by a server of a region gets a node there, unless they ask for another; a room begins there', async (t) => {
  const regional = await startRooms({ env: { SERVER_REGION: 'near' } });
  t.after(() => regional.stop());
  const { api } = await regional.newProject();
  const near = await regional.newNode('node-near', { region: 'near' });
  near.reports = { cpuPercent: 90 };
  await near.heartbeat();
  const [room, other] = [await newRoom(api), await newRoom(api, { region: 'default' })];
  const ada = await joinAs(regional, api, room, 'ada');
  const bob = await joinAs(regional, api, room, 'bob', { join: { region: 'default' } });
  const cy = await joinAs(regional, api, other, 'cy', { join: { region: 'default' } });
  const dan = await joinAs(regional, api, other, 'dan');
  assert.deepEqual(
    [near, regional.node].map((node) => [node.rooms().get(room.id), node.rooms().get(other.id)]),
    [
      [['ada'], ['dan']],
      [['bob'], ['cy']],
    ],
  );
  await Promise.all([ada, bob, cy, dan].map((client) => client.close()));
});
