import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinAs, mint, newRoom, passTime, startTimedRooms } from '../../../testkit/clients/rooms.ts';
import { joinRoom, type SignalClient } from '../../../testkit/clients/signal-client.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import type { TestProject } from '../../../testkit/kit/people.ts';

type Timed = Awaited<ReturnType<typeof startTimedRooms>>;

async function withTimed(work: (service: Timed, project: TestProject) => Promise<void>): Promise<void> {
  const service = await startTimedRooms();
  try {
    await work(service, await service.newProject());
  } finally {
    await service.stop();
  }
}

const pinging =
  (...clients: SignalClient[]) =>
  () => {
    for (const client of clients) if (!client.closed) client.send({ type: 'ping', t: 1 });
  };

test('[FLEET-8] [OBS-41] a node silent for 30 s is OFFLINE, gets no room, and its rooms move when clients rejoin', () =>
  withTimed(async (service, { api, owner }) => {
    const room = await newRoom(api);
    const ada = await joinAs(service, api, room, 'ada');
    await service.node.heartbeat();
    const lastBeat = service.clock.now();
    const other = await service.newNode('node-2', {});
    const keep = pinging(ada);
    await passTime(service, 25, async () => {
      keep();
      await other.heartbeat();
    });
    assert.equal((await owner.api.call('getServer', { name: 'node-1' })).status, 'ACTIVE');
    assert.equal(ada.closed, null);
    await passTime(service, 12, async () => {
      keep();
      await other.heartbeat();
    });
    assert.equal((await owner.api.call('getServer', { name: 'node-1' })).status, 'OFFLINE');
    assert.deepEqual(await service.service.fleet.offlineNodes(), ['node-1']);
    const reconnect = await ada.take('reconnect');
    assert.deepEqual([reconnect['action'], reconnect['reason']], ['RECONNECT', 'MEDIA_FAILURE']);
    assert.equal((await ada.whenClosed()).code, 4503);
    const again = await joinRoom(service.url, ada.token);
    assert.equal(again.joined.room.serverName, 'node-2');
    const sessions = await api.call('listRoomSessions', { id: room.id });
    const past = sessions.find(({ sessionId }) => sessionId === ada.joined.sessionId);
    assert.equal(past?.disconnectReason, 'MEDIA_FAILURE');
    assert.equal(Date.parse(past?.leftAt ?? ''), lastBeat, 'minutes end with the last heartbeat');
    const totals = await owner.api.call('getFleetTotals');
    assert.deepEqual([totals.servers, totals.serversByStatus.OFFLINE], [2, 1]);
    await again.close();
  }));

test('[FLEET-8] a name whose node is past its timeout can be taken from another address', () =>
  withTimed(async (service) => {
    assert.equal((await service.node.register({ publicHost: 'elsewhere' })).status, 409);
    await passTime(service, 32);
    assert.equal((await service.node.register({ publicHost: 'elsewhere' })).status, 200);
  }));

test('[FLEET-9] when nobody was there to receive heartbeats, no node is dead for one timeout', () =>
  withTimed(async (service, { api, owner }) => {
    const room = await newRoom(api);
    const ada = await joinAs(service, api, room, 'ada');
    // Two minutes in one step: as if we had not run at all.
    service.clock.jump(120_000);
    const status = async () => (await owner.api.call('getServer', { name: 'node-1' })).status;
    await passTime(service, 10, pinging(ada));
    assert.equal(await status(), 'ACTIVE');
    await passTime(service, 15);
    assert.equal(await status(), 'ACTIVE');
    const { token } = await mint(api, await newRoom(api), 'bob');
    await (await joinRoom(service.url, token)).close();
    await passTime(service, 12);
    assert.equal(await status(), 'OFFLINE', 'but not forever');
  }));

test('[FLEET-10] a restarted node has lost its rooms: they move at once and end when it was last seen', () =>
  withTimed(async (service, { api }) => {
    const room = await newRoom(api);
    const ada = await joinAs(service, api, room, 'ada');
    await passTime(service, 4, pinging(ada));
    await service.node.heartbeat();
    const lastBeat = service.clock.now();
    await passTime(service, 3, pinging(ada));
    service.node.restart();
    assert.equal((await service.node.register()).status, 200);
    await service.node.heartbeat();
    await passTime(service, 2);
    assert.equal((await ada.whenClosed()).code, 4503);
    const again = await joinRoom(service.url, ada.token);
    assert.deepEqual(again.others, []);
    const sessions = await api.call('listRoomSessions', { id: room.id });
    assert.equal(sessions.length, 2);
    assert.equal(Date.parse(sessions[1]?.leftAt ?? ''), lastBeat);
    await again.close();
  }));

test('[FLEET-11] a lost control connection touches nobody; what was missed is made up for', () =>
  withTimed(async (service, { api }) => {
    const room = await newRoom(api);
    const [ada, bob] = [await joinAs(service, api, room, 'ada'), await joinAs(service, api, room, 'bob')];
    const [kept = '', gone = ''] = await ada.publish('AUDIO', 'VIDEO');
    await bob.take('track.published');
    const participant = ada.joined.sessionId;
    const unpublished = { room: room.id, participant, identity: 'ada', trackId: gone };

    // Within what the node keeps: the events themselves come.
    service.node.disconnect();
    service.node.emit('track.muted', { ...unpublished, trackId: kept, muted: true, by: 'PUBLISHER' });
    await eventually(async () => {
      pinging(ada, bob)();
      await service.node.heartbeat();
      await service.clock.advance(1_000);
      assert.ok(bob.frames.some(({ type }) => type === 'track.muted'));
    });

    // Beyond it: the node's state is compared with what we knew.
    service.node.disconnect({ forget: true });
    service.node.drop({ room: room.id, participant, trackId: gone });
    await eventually(async () => {
      pinging(ada, bob)();
      await service.node.heartbeat();
      await service.clock.advance(1_000);
      assert.ok(bob.frames.some((frame) => frame.type === 'track.unpublished' && frame['trackId'] === gone));
    });
    service.node.drop({ room: room.id, participant });
    service.node.disconnect({ forget: true });
    await eventually(async () => {
      pinging(ada, bob)();
      await service.node.heartbeat();
      await service.clock.advance(1_000);
      assert.equal(ada.closed?.code, 4503);
    });
    assert.equal(bob.closed, null);
    await bob.close();
  }));

test('[FLEET-11] a node that does not say what it holds loses nobody: it is asked again', () =>
  withTimed(async (service, { api }) => {
    const room = await newRoom(api);
    const [ada, bob] = [await joinAs(service, api, room, 'ada'), await joinAs(service, api, room, 'bob')];
    const [gone = ''] = await ada.publish('VIDEO');
    await bob.take('track.published');
    const { node } = service;
    const until = (isSo: () => boolean) =>
      eventually(async () => {
        pinging(ada, bob)();
        await node.heartbeat();
        await service.clock.advance(1_000);
        assert.ok(isSo());
      });
    node.drop({ room: room.id, participant: ada.joined.sessionId, trackId: gone });
    node.forget('snapshot');
    node.answersWith = 'INTERNAL';
    node.disconnect({ forget: true });
    await until(() => node.heard.get('snapshot') !== undefined);
    await passTime(service, 2, pinging(ada, bob));
    assert.deepEqual([ada.closed, bob.closed], [null, null]);

    node.answersWith = null;
    node.disconnect();
    await until(() => bob.frames.some((frame) => frame.type === 'track.unpublished' && frame['trackId'] === gone));
    assert.deepEqual([ada.closed, bob.closed], [null, null]);
    await Promise.all([ada.close(), bob.close()]);
  }));
