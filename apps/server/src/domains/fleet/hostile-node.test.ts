import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { MediaRequests } from '@parley/contract/media-control';
import {
  joinAs,
  newRoom,
  passTime,
  type RoomsService,
  startRooms,
  startTimedRooms,
} from '../../../testkit/clients/rooms.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import type { TestProject } from '../../../testkit/kit/people.ts';

let service: RoomsService;
let project: TestProject;
before(async () => {
  service = await startRooms();
  project = await service.newProject();
});
after(() => service.stop());

type Counter = 'parley_media_link_faults_total' | 'parley_media_foreign_events_total' | 'parley_data_dropped_total';

async function read(name: Counter): Promise<number> {
  const text = await (await service.fetch('/metrics')).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}

/** How much a counter has grown since. */
async function countFrom(name: Counter): Promise<() => Promise<number>> {
  const first = await read(name);
  return async () => (await read(name)) - first;
}

test('[FLEET-20] a node that sends what is no frame loses that connection, and the server and its calls live', async () => {
  const { api } = project;
  const room = await newRoom(api);
  const ada = await joinAs(service, api, room, 'ada');
  const { connections } = service.node;
  const faults = await countFrom('parley_media_link_faults_total');
  service.node.say('5');
  await eventually(() => service.node.connections === connections + 1);
  assert.equal(await faults(), 1);
  assert.equal(ada.closed, null);
  const sent = await ada.ask({ type: 'data', payload: 'still here' });
  assert.equal(sent.type, 'response');
  await ada.close();
});

test('[FLEET-20] a node that goes on with it is tried ever more rarely, and rooms go to others meanwhile', async () => {
  const timed = await startTimedRooms();
  try {
    const { api } = await timed.newProject();
    const ada = await joinAs(timed, api, await newRoom(api), 'ada');
    await eventually(() => timed.node.connections === 1);
    // Each new connection is spoilt again, for half a minute.
    await passTime(timed, 30, async () => {
      timed.node.say('{"seq":0}');
      ada.send({ type: 'ping', t: 1 });
      await timed.node.heartbeat();
    });
    assert.ok(timed.node.connections >= 2 && timed.node.connections <= 6, `${timed.node.connections} connections`);
    await timed.newNode('node-2');
    const bob = await joinAs(timed, api, await newRoom(api), 'bob');
    assert.equal(bob.joined.room.serverName, 'node-2');
  } finally {
    await timed.stop();
  }
});

test('[FLEET-20] an answer that does not fit its command fails the command, and the connection with it', async () => {
  const { api } = project;
  const ada = await joinAs(service, api, await newRoom(api), 'ada');
  const { connections } = service.node;
  service.node.answersWith = { delivered: 'many' };
  const refused = await ada.ask({ type: 'data', payload: 'x' });
  assert.deepEqual([refused.type, refused['svcCode']], ['error', 'SVC_MEDIA_ERROR']);
  service.node.answersWith = null;
  await eventually(() => service.node.connections === connections + 1);
  await eventually(async () => (await ada.ask({ type: 'data', payload: 'x' })).type === 'response');
  await ada.close();
});

test('[MED-63] the budget of data by signaling goes to the node, and data over it is SVC_RATE_LIMITED', async () => {
  const ada = await joinAs(service, project.api, await newRoom(project.api), 'ada');
  const { dataFallback } = service.node.heard.get('room.open') as MediaRequests['room.open'];
  const { limits } = service.config;
  assert.deepEqual(dataFallback, {
    sentPerSecond: limits.SIGNALING_MAX_DATA_SENT_PER_SECOND,
    receivedPerSecond: limits.SIGNALING_MAX_DATA_RECEIVED_PER_SECOND,
  });
  service.node.answersWith = 'RATE_LIMITED';
  const refused = await ada.ask({ type: 'data', payload: 'x' });
  service.node.answersWith = null;
  assert.deepEqual([refused['svcCode'], refused['retryAfterSeconds']], ['SVC_RATE_LIMITED', 1]);
  await ada.close();
});

test('[MED-64] what a node dropped comes with its heartbeat and is counted', async () => {
  const dropped = await countFrom('parley_data_dropped_total');
  await service.node.heartbeat({ dataDropped: 3 });
  await service.node.heartbeat({ dataDropped: 2 });
  assert.equal(await dropped(), 5);
});

test('[FLEET-21] what a node says of rooms, participants and identities that are not its own is dropped and counted', async () => {
  const { api } = project;
  const room = await newRoom(api);
  const ada = await joinAs(service, api, room, 'ada');
  const other = await service.newNode('node-2');
  // The second node gets a connection by a room of its own.
  await service.node.heartbeat({ cpuPercent: 99 });
  await eventually(async () => {
    await (await joinAs(service, api, await newRoom(api), 'bob')).close();
    return other.connections > 0;
  });
  const faults = await countFrom('parley_media_link_faults_total');
  const foreign = await countFrom('parley_media_foreign_events_total');
  const at = new Date().toISOString();
  const address = { room: room.id, participant: ada.joined.sessionId };
  const events = [
    { type: 'participant.closed', data: { ...address, identity: 'ada', reason: 'PARTICIPANT_REMOVED' } },
    { type: 'data', data: { ...address, from: null, topic: null, payload: 'x', encoding: 'utf8', at } },
    { type: 'speakers', data: { room: room.id, speakers: [{ identity: 'ada', level: 1, active: true }] } },
  ];
  for (const event of events) other.say(JSON.stringify({ seq: 1000, ...event }));
  await eventually(async () => (await foreign()) === 3);
  // Its own node may not speak for another identity either, and an event nobody knows is none of ours.
  const asEve = { ...address, identity: 'eve', reason: 'PARTICIPANT_REMOVED' };
  service.node.say(JSON.stringify({ seq: 1000, type: 'participant.closed', data: asEve }));
  service.node.say(JSON.stringify({ seq: 1001, type: 'novelty', data: {} }));
  await eventually(async () => (await foreign()) === 4);
  assert.equal((await ada.ask({ type: 'data', payload: 'x' })).type, 'response');
  assert.deepEqual(
    ada.frames.filter(({ type }) => type === 'data' || type === 'speakers'),
    [],
  );
  assert.equal(await faults(), 0);
  await ada.close();
});

test('[FLEET-22] a node that does not prove that it knows the secret gets no command and no room', async () => {
  const { api } = project;
  const faults = await countFrom('parley_media_link_faults_total');
  const provesWith = 'another-secret-of-at-least-32-bytes!';
  const impostor = await service.newNode('node-9', { region: 'eu', provesWith });
  const ada = await joinAs(service, api, await newRoom(api, { region: 'eu' }), 'ada');
  assert.notEqual(ada.joined.room.serverName, 'node-9');
  assert.deepEqual([impostor.connections, impostor.rooms().size], [1, 0]);
  assert.equal(await faults(), 1);
  await ada.close();
});

test('[UPG-5] a node without a version of the protocol in common gets no room, and the log says what to do', async () => {
  const { api } = project;
  const faults = await countFrom('parley_media_link_faults_total');
  await service.newNode('node-10', { region: 'ap', protocol: 9 });
  await service.newNode('node-11', { region: 'ap', protocol: null });
  const ada = await joinAs(service, api, await newRoom(api, { region: 'ap' }), 'ada');
  assert.ok(!['node-10', 'node-11'].includes(ada.joined.room.serverName ?? ''));
  assert.equal(await faults(), 2);
  await ada.close();
});
