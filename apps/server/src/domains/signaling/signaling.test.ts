import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Track } from '@parley/contract';
import { joinAs, mint, newRoom, type RoomsService, sharedRooms } from '../../../testkit/clients/rooms.ts';
import { JoinRefused, joinRoom, openSignal } from '../../../testkit/clients/signal-client.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';

/** A hundred changes of one participant, one after the other. */
const changesMs = 30_000;

let service: RoomsService;
let second: TestService;
before(async () => {
  service = await sharedRooms();
  second = await startService({ beside: service });
});
after(async () => {
  await second.stop();
});

const pick = (frame: Record<string, unknown>, ...names: string[]): unknown[] => names.map((name) => frame[name]);

test('[SIG-1] participants see each other and their tracks, whichever process their sockets are at', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const ada = await joinAs(service, api, room, 'ada', { token: { metadata: 'A' } });
  assert.deepEqual([ada.joined.room.id, ada.joined.participant.identity, ada.joined.resumed], [room.id, 'ada', false]);
  const [trackId] = await ada.publish('AUDIO');
  const bob = await joinAs(second, api, room, 'bob');
  bob.answerOffers();
  assert.deepEqual(
    bob.others.map(({ identity, metadata, tracks }) => [identity, metadata, tracks.map(({ id }) => id)]),
    [['ada', 'A', [trackId]]],
  );
  const joined = (await ada.take('participant.joined'))['participant'] as { identity: string; permissions: object };
  assert.equal(joined.identity, 'bob');
  await eventually(() => assert.deepEqual([...bob.offered()], [trackId]));
  const [video] = await bob.publish('VIDEO');
  const published = await ada.take('track.published', (frame) => frame['identity'] === 'bob');
  assert.equal((published['track'] as { id: string }).id, video);
  const seqs = ada.frames.flatMap(({ seq }) => (typeof seq === 'number' ? [seq] : [])).filter((seq) => seq > 0);
  assert.deepEqual(
    seqs,
    [...seqs].sort((a, b) => a - b),
    'numbered in order',
  );
  await bob.close();
  assert.deepEqual(pick(await ada.take('participant.left'), 'identity', 'reason'), ['bob', 'CLIENT_INITIATED']);
  await ada.close();
});

test('[SIG-2] the token comes by subprotocol, by query or in the join itself', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  for (const by of ['subprotocol', 'query', 'join'] as const) {
    const client = await joinAs(service, api, room, by, { by });
    const hello = await client.take('hello');
    assert.deepEqual(
      pick(
        hello,
        'heartbeatIntervalMs',
        'heartbeatTimeoutMs',
        'maxFrameBytes',
        'maxMessagesPerWindow',
        'windowSeconds',
        'protocol',
      ),
      [10_000, 30_000, 16_384, 100, 60, 1],
    );
    assert.equal(client.ws.protocol, 'svc.rtc.v1');
    await client.close();
  }
});

test('[SIG-26] the upgrade request may carry the join, which hello says; a bad one is refused as any first frame', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const { token } = await mint(api, room, 'ada');
  const first = { type: 'join', connectionId: randomUUID(), id: 'early' };
  const ada = await openSignal(service.url, token, { first });
  assert.equal((await ada.take('hello'))['first'], true);
  assert.deepEqual(pick(await ada.take('response'), 'ref'), ['early']);
  assert.equal((await ada.take('joined'))['resumed'], false);
  assert.equal((await ada.ask({ type: 'join', connectionId: randomUUID() }))['svcCode'], 'SVC_BAD_REQUEST');

  const bob = await openSignal(service.url, (await mint(api, room, 'bob')).token);
  assert.equal((await bob.take('hello'))['first'], undefined);
  const invalid = await openSignal(service.url, token, { first: { type: 'join', connectionId: 7, id: 'wrong' } });
  assert.deepEqual(pick(await invalid.take('error'), 'ref', 'svcCode'), ['wrong', 'SVC_VALIDATION_FAILED']);
  const unreadable = await openSignal(service.url, token, { first: '{' });
  assert.equal((await unreadable.whenClosed()).code, 4400);
  const stranger = await openSignal(service.url, 'not-a-token', { first });
  assert.equal((await stranger.whenClosed()).code, 4401);
  for (const socket of [ada, bob, invalid]) await socket.close();
});

test('[SIG-3] the 21st connection of one address within the window is completed and closed with 4429', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const { token } = await mint(api, room, 'ada');
  const headers = { 'x-forwarded-for': '10.99.1.1' };
  const sockets = [];
  for (let n = 0; n < 20; n++)
    sockets.push(await openSignal([service.url, second.url][n % 2] ?? '', token, { headers }));
  const over = await openSignal(second.url, token, { headers });
  const { code, reason } = await over.whenClosed();
  assert.equal(code, 4429);
  assert.match(reason, /^RATE_LIMITED; retryAfter=\d+$/);
  assert.ok(sockets.every(({ closed }) => closed === null));
  const elsewhere = await openSignal(service.url, token, { headers: { 'x-forwarded-for': '10.99.1.2' } });
  await elsewhere.take('hello');
  for (const socket of [...sockets, elsewhere]) await socket.close();
});

test('[SIG-3] the 101st message of a connection in a window is refused once, and the 121st closes; pings are free', async () => {
  const { api } = await service.newProject();
  const ada = await joinAs(service, api, await newRoom(api), 'ada');
  for (let n = 0; n < 200; n++) ada.send({ type: 'ping', t: n });
  // The join was the first.
  for (let n = 0; n < 99; n++) ada.send({ type: 'participant.update', metadata: String(n), id: `u-${n}` });
  await eventually(
    () => assert.equal(ada.frames.filter(({ type, ref }) => type === 'response' && ref?.startsWith('u-')).length, 99),
    { withinMs: changesMs },
  );
  const refused = await ada.ask({ type: 'participant.update', metadata: 'over' });
  assert.deepEqual(pick(refused, 'type', 'code', 'svcCode', 'retryable'), [
    'error',
    'RATE_LIMITED',
    'SVC_RATE_LIMITED',
    true,
  ]);
  assert.ok(Number(refused['retryAfterSeconds']) >= 1);
  for (let n = 0; n < 20; n++) ada.send({ type: 'participant.update', metadata: 'still over' });
  assert.equal((await ada.whenClosed()).code, 4429);
  assert.equal(ada.frames.filter(({ type }) => type === 'error').length, 1);
});

test('[SIG-4] frames that are none, or come too early, are refused without harm; a frame too large ends the connection', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const { token } = await mint(api, room, 'ada');
  const early = await openSignal(service.url, token);
  assert.equal((await early.ask({ type: 'publish', tracks: [], description: { media: [] } }))['code'], 'BAD_REQUEST');
  await early.close();
  const ada = await joinRoom(service.url, token);
  const wrong: [object | string, string][] = [
    [{ type: 'join', connectionId: 'again' }, 'BAD_REQUEST'],
    [{ type: 'constructor' }, 'UNKNOWN_FRAME'],
    [{ type: 'publish', tracks: 'all' }, 'VALIDATION_FAILED'],
    [{ type: 'track.mute', trackId: 'trk_none', muted: true }, 'TRACK_NOT_FOUND'],
    [{ type: 'sub.answer', revision: 99, description: { media: [] } }, 'BAD_REQUEST'],
    [{ type: 'rpc.request', to: 'nobody', method: 'm' }, 'PARTICIPANT_NOT_FOUND'],
  ];
  for (const [frame, code] of wrong) assert.equal((await ada.ask(frame as { type: string }))['code'], code);
  ada.send('{"type":');
  assert.equal((await ada.take('error', ({ ref }) => ref === undefined))['code'], 'INVALID_JSON');
  assert.equal(ada.closed, null);
  ada.send({ type: 'participant.update', metadata: 'x'.repeat(17_000) });
  assert.equal((await ada.whenClosed()).code, 1009);
});

test('[SIG-5] publishing follows the permissions of the token, kind by kind', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const cases: [object, ('AUDIO' | 'VIDEO')[], ('AUDIO' | 'VIDEO')[]][] = [
    [{ publishAudio: true, publishVideo: true }, [], ['AUDIO', 'VIDEO']],
    [{ publish: true }, ['AUDIO', 'VIDEO'], []],
    [{ publish: true, publishAudio: true, publishVideo: true }, ['AUDIO', 'VIDEO'], []],
    [{ publish: true, publishAudio: true }, ['AUDIO'], ['VIDEO']],
    [{ publish: true, publishVideo: true }, ['VIDEO'], ['AUDIO']],
  ];
  for (const [index, [permissions, allowed, forbidden]] of cases.entries()) {
    const one = await joinAs(service, api, room, `p-${index}`, { token: { permissions } });
    for (const kind of allowed) assert.match((await one.publish(kind))[0] ?? '', /^trk_/);
    for (const kind of forbidden) await assert.rejects(one.publish(kind), /PUBLISH_NOT_ALLOWED/);
    await one.close();
  }
  const blind = await joinAs(service, api, room, 'blind', { token: { permissions: { subscribe: false } } });
  const refused = await blind.ask({ type: 'subscribe', trackIds: ['trk_x'] });
  assert.equal(refused['code'], 'SUBSCRIBE_NOT_ALLOWED');
  assert.equal((await blind.ask({ type: 'data', payload: 'x' }))['code'], 'DATA_NOT_ALLOWED');
  await blind.close();
});

test('[RTC-97] name and metadata of a track reach those in the room and those who join later; too much is refused', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const ada = await joinAs(service, api, room, 'ada');
  const bob = await joinAs(service, api, room, 'bob');
  const publish = (metadata: string) => {
    const track = { cid: 'c1', kind: 'VIDEO', source: 'UNKNOWN', name: 'slides', metadata };
    const media = [{ mid: '0', kind: 'video', direction: 'sendonly', trackId: 'c1' }];
    return ada.ask({ type: 'publish', tracks: [track], description: { media } });
  };
  // 1,024 bytes in 512 characters.
  const metadata = 'é'.repeat(512);
  assert.equal((await publish(`${metadata}x`))['svcCode'], 'SVC_METADATA_TOO_LARGE');
  assert.equal((await publish(metadata)).type, 'response');
  const shown = ({ name, metadata }: { name: string | null; metadata: string | null }) => [name, metadata];
  const track = (await bob.take('track.published'))['track'] as Track;
  assert.deepEqual(shown(track), ['slides', metadata]);
  const late = await joinAs(service, api, room, 'late');
  const seen = late.joined.participants.find(({ identity }) => identity === 'ada')?.tracks[0];
  assert.deepEqual(seen && shown(seen), ['slides', metadata]);
  const [listed] = (await api.call('listRoomParticipants', { id: room.id })).flatMap(({ tracks }) => tracks);
  assert.deepEqual(listed && shown(listed), ['slides', metadata]);
  await Promise.all([ada.close(), bob.close(), late.close()]);
});

test('[SIG-6] every frame does its work: subscribe, mute, unpublish, settings, ice, restart, update, stats', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const ada = await joinAs(service, api, room, 'ada');
  const [audio = '', video = ''] = await ada.publish('AUDIO', 'VIDEO');
  const bob = await joinAs(second, api, room, 'bob', { join: { autoSubscribe: false } });
  bob.answerOffers();
  const accepted = (await bob.ask({ type: 'subscribe', trackIds: [audio, 'trk_none'] }))['data'] as object;
  assert.deepEqual(accepted, {
    accepted: [audio],
    refused: [{ id: 'trk_none', code: 'NOT_FOUND' }],
    acceptedCount: 1,
    refusedCount: 1,
  });
  await eventually(() => assert.deepEqual([...bob.offered()], [audio]));
  await bob.ask({ type: 'subscribe', identities: ['ada'] });
  await eventually(() => assert.deepEqual([...bob.offered()].sort(), [audio, video].sort()));
  await bob.ask({ type: 'unsubscribe', trackIds: [video] });
  await eventually(() => assert.deepEqual([...bob.offered()], [audio]));

  for (const frame of [
    { type: 'track.settings', updates: [{ trackId: audio, enabled: false }] },
    { type: 'ice', pc: 'pub', candidates: ['udp 1 192.0.2.1 9 host'] },
    { type: 'ice.restart', pc: 'sub', received: 7 },
    { type: 'stats', report: { rttMs: 20 } },
  ])
    assert.equal((await bob.ask(frame)).type, 'response', frame.type);
  const restart = { room: room.id, participant: bob.joined.sessionId, pc: 'sub', received: 7 };
  assert.deepEqual(service.node.heard.get('ice.restart'), restart);

  await ada.ask({ type: 'track.mute', trackId: audio, muted: true });
  assert.deepEqual(pick(await bob.take('track.muted'), 'identity', 'trackId', 'muted', 'by'), [
    'ada',
    audio,
    true,
    'PUBLISHER',
  ]);
  await ada.ask({ type: 'unpublish', trackIds: [video] });
  assert.equal((await bob.take('track.unpublished'))['trackId'], video);
  await ada.ask({ type: 'participant.update', metadata: 'new' });
  assert.equal(((await bob.take('participant.updated'))['participant'] as { metadata: string }).metadata, 'new');
  const late = await joinAs(service, api, room, 'late');
  const seen = late.others.find(({ identity }) => identity === 'ada');
  assert.deepEqual([seen?.metadata, seen?.tracks.map(({ id, muted }) => [id, muted])], ['new', [[audio, true]]]);
  for (const one of [ada, bob, late]) await one.close();
});

test('[SIG-7] data and questions reach participants of other processes; only who was asked can answer', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const [ada, bob] = [await joinAs(service, api, room, 'ada'), await joinAs(second, api, room, 'bob')];
  const eve = await joinAs(second, api, room, 'eve');
  const sent = await ada.ask({ type: 'data', topic: 't', payload: 'hi', to: ['bob'] });
  assert.deepEqual(sent['data'], { delivered: 1 });
  assert.deepEqual(pick(await bob.take('data'), 'from', 'topic', 'payload', 'encoding'), ['ada', 't', 'hi', 'utf8']);

  const asked = (await ada.ask({ type: 'rpc.request', to: 'bob', method: 'sum', payload: '1+1' }))['data'] as {
    requestId: string;
  };
  const request = await bob.take('rpc.request');
  assert.deepEqual(pick(request, 'requestId', 'from', 'method', 'payload'), [asked.requestId, 'ada', 'sum', '1+1']);
  await eve.ask({ type: 'rpc.response', requestId: asked.requestId, payload: '3' });
  await bob.ask({ type: 'rpc.response', requestId: asked.requestId, payload: '2' });
  assert.deepEqual(pick(await ada.take('rpc.response'), 'requestId', 'from', 'payload', 'error'), [
    asked.requestId,
    'bob',
    '2',
    null,
  ]);

  await ada.ask({ type: 'rpc.request', to: 'bob', method: 'wait', timeoutMs: 50 });
  const late = await ada.take('rpc.response');
  assert.deepEqual([late['from'], (late['error'] as { code: string }).code], ['bob', 'TIMEOUT']);
  assert.ok(!eve.frames.some(({ type }) => type === 'data' || type === 'rpc.request'));
  for (const one of [ada, bob, eve]) await one.close();
});

test('[SIG-8] an event of the node reaches the participant it is about, or all participants', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const [ada, bob] = [await joinAs(service, api, room, 'ada'), await joinAs(second, api, room, 'bob')];
  const one = { room: room.id, participant: ada.joined.sessionId };
  const { node } = service;
  node.emit('stream.state', { ...one, trackId: 't', state: 'PAUSED', reason: 'BANDWIDTH', layer: null });
  node.emit('publish.quality', { ...one, trackId: 't', layers: [{ rid: 'h', enabled: false }] });
  node.emit('speakers', { room: room.id, speakers: [{ identity: 'ada', level: 0.5, active: true }] });
  const many = Array.from({ length: 150 }, (_, n) => ({
    identity: `${'i'.repeat(120)}${n}`,
    quality: 'GOOD' as const,
    score: 4,
  }));
  node.emit('quality', { room: room.id, updates: many });
  assert.deepEqual(pick(await ada.take('stream.state'), 'trackId', 'state', 'reason'), ['t', 'PAUSED', 'BANDWIDTH']);
  assert.deepEqual((await ada.take('publish.quality'))['layers'], [{ rid: 'h', enabled: false }]);
  for (const client of [ada, bob]) {
    assert.deepEqual((await client.take('speakers'))['speakers'], [{ identity: 'ada', level: 0.5, active: true }]);
    await eventually(() => {
      const updated = client.frames.flatMap(({ type, updates }) => (type === 'quality' ? (updates as object[]) : []));
      assert.equal(updated.length, 150);
    });
    assert.ok(client.largest() <= 16_384);
  }
  assert.ok(!bob.frames.some(({ type }) => type === 'stream.state' || type === 'publish.quality'));
  node.emit('participant.closed', { ...one, identity: 'ada', reason: 'MEDIA_FAILURE' });
  assert.equal((await ada.whenClosed()).code, 4503);
  assert.deepEqual(pick(await bob.take('participant.left'), 'identity', 'reason'), ['ada', 'MEDIA_FAILURE']);
  await bob.close();
});

test('[MED-99] the node is told how many videos a client takes at once, if it said so', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  for (const maxVisible of [9, undefined]) {
    const client = await joinAs(service, api, room, `sees-${maxVisible}`, { join: { maxVisible } });
    const added = service.node.heard.get('participant.add') as { identity?: string; maxVisible?: number };
    assert.deepEqual([added.identity, added.maxVisible], [`sees-${maxVisible}`, maxVisible]);
    await client.close();
  }
});

test('[SIG-9] the same identity again takes over, unless the room keeps whom it has', async () => {
  const { api } = await service.newProject();
  const kicking = await newRoom(api);
  const { token } = await mint(api, kicking, 'ada');
  const watcher = await joinAs(service, api, kicking, 'watcher');
  const first = await joinRoom(service.url, token);
  const next = await joinRoom(second.url, token);
  assert.deepEqual(await first.whenClosed(), { code: 4409, reason: 'DUPLICATE_IDENTITY' });
  assert.deepEqual(pick(await watcher.take('participant.left'), 'identity', 'reason'), ['ada', 'DUPLICATE_IDENTITY']);
  assert.equal((await api.call('getRoom', { id: kicking.id })).participantCount, 2);

  const keeping = await newRoom(api, { duplicateIdentity: 'REJECT_NEW' });
  const holder = await joinAs(service, api, keeping, 'ada');
  const refused = await joinRoom(second.url, holder.token).catch((error) => error);
  assert.ok(refused instanceof JoinRefused);
  assert.deepEqual([refused.frame['code'], (await refused.socket.whenClosed()).code], ['DUPLICATE_IDENTITY', 4409]);
  assert.equal(holder.closed, null);
  for (const one of [watcher, next, holder]) await one.close();
});

test('[SIG-9] of many at once with one identity exactly one stays', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const { token } = await mint(api, room, 'ada');
  const joins = await Promise.allSettled(
    Array.from({ length: 12 }, (_, n) => joinRoom([service.url, second.url][n % 2] ?? '', token)),
  );
  const inside = joins.flatMap((join) => (join.status === 'fulfilled' ? [join.value] : []));
  await eventually(() => assert.equal(inside.filter(({ closed }) => closed === null).length, 1));
  assert.equal((await api.call('getRoom', { id: room.id })).participantCount, 1);
  await eventually(() => assert.deepEqual(service.node.rooms().get(room.id), ['ada']));
  for (const one of inside) if (!one.closed) await one.close();
});
