import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { MediaTrackRequest } from '@parley/contract/media-control';
import type { Description } from '@parley/media-description';
import { ownPort } from '../../../server/testkit/kit/ports.ts';
import { newPeer, parametersOf, remoteSdp } from '../../testkit/native-peer.ts';
import { eventually } from '../../testkit/node.ts';
import { everything } from '../../testkit/permissions.ts';
import { endPeers } from '../../testkit/rtp-peer.ts';
import { candidatesOf } from '../announce.ts';
import { Legs } from '../pipes/legs.ts';
import { PipeSocket } from '../pipes/pipe-socket.ts';
import { createCertificate } from './certificate.ts';
import { systemClock } from './clock.ts';
import { Engine } from './engine.ts';
import { PeerTransport } from './peer-transport.ts';
import { Publisher } from './publisher.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

// The library holds the process open until its objects are collected.
after(async () => {
  for (let round = 0; round < 5; round += 1) {
    collectGarbage();
    await sleep(1);
  }
});

test('[MED-45] a closed transport leaves nothing in memory', async () => {
  const udpPort = await ownPort();
  const certificate = createCertificate(Date.now());
  const open = (): WeakRef<PeerTransport> => {
    const listener = { packet() {}, state() {}, data() {} };
    const onError = (error: unknown) => assert.fail(String(error));
    const transport: PeerTransport = new PeerTransport({
      name: 'test',
      udpPort,
      bindAddress: undefined,
      certificate,
      iceKey: Buffer.alloc(32),
      hasData: true,
      // As in the engine, the listener leads back to the transport.
      listener: { ...listener, state: () => void transport.state },
      onError,
    });
    transport.offer();
    transport.close();
    transport.close();
    assert.equal(transport.send(Buffer.alloc(20)), false);
    assert.equal(transport.sendData('reliable', new Uint8Array(1)), 'closed');
    return new WeakRef(transport);
  };
  const references = Array.from({ length: 5 }, open);
  await eventually(() => {
    collectGarbage();
    return references.every((reference) => reference.deref() === undefined);
  }, 'a transport is still in memory');
  // The library goes through all that it still knows: an address of something collected would end this process.
  endPeers();
});

test('[MED-47] a peer that knocks before its answer was taken is let in, however eager', async () => {
  const udpPort = await ownPort();
  const certificate = createCertificate(Date.now());
  const connectEarly = async (round: number): Promise<void> => {
    const listener = { packet() {}, state() {}, data() {} };
    const onError = (error: unknown) => assert.fail(String(error));
    const name = `offerer-${round}`;
    const transport = new PeerTransport({
      name,
      udpPort,
      bindAddress: undefined,
      certificate,
      iceKey: Buffer.alloc(32),
      hasData: true,
      listener,
      onError,
    });
    const offer: Description = {
      ...transport.offer(),
      candidates: candidatesOf(['127.0.0.1'], udpPort),
      media: [{ mid: 'data', kind: 'data', direction: 'sendrecv' }],
    };
    const { connection, track } = newPeer(`peer-${round}`);
    try {
      connection.setRemoteDescription(remoteSdp(offer, true), 'offer');
      connection.setLocalDescription('answer');
      // Long enough for its first checks to be under way.
      await sleep(round % 20);
      transport.acceptAnswer({ ...parametersOf(connection), media: [] });
      await eventually(() => transport.isOpen, `${name} did not open`);
    } finally {
      for (const part of [transport, track, connection]) part.close();
    }
  };
  for (let round = 0; round < 48; round += 16)
    await Promise.all(Array.from({ length: 16 }, (_, index) => connectEarly(round + index)));
});

/** The publishing side of a participant, without anybody at the other end. */
async function newPublisher() {
  const udpPort = await ownPort();
  const certificate = createCertificate(Date.now());
  const present = new Set<string>();
  const permissions = {
    join: true,
    publish: true,
    publishAudio: true,
    publishVideo: true,
    subscribe: true,
    publishData: false,
    updateMetadata: false,
  };
  let count = 0;
  const publisher = new Publisher({
    clock: { now: () => 0, wall: () => 0 },
    isPlain: false,
    newTrackId: () => `trk_${++count}`,
    newTransport: (hasData, listener) =>
      new PeerTransport({
        name: 'pub',
        udpPort,
        bindAddress: undefined,
        certificate,
        iceKey: Buffer.alloc(32),
        hasData,
        listener,
        onError: (error) => assert.fail(String(error)),
      }),
    candidates: () => [],
    permissions: () => permissions,
    events: {
      state() {},
      published: ({ id }) => present.add(id),
      backedUp() {},
      backupLost() {},
      unpublished: ({ id }) => present.delete(id),
      started() {},
      audioLevel() {},
      rebound() {},
    },
  });
  const offerOf = (ufrag: string, mid: string): Description => ({
    ice: { ufrag, pwd: 'p'.repeat(24) },
    dtls: { role: 'actpass', fingerprint: certificate.fingerprint },
    media: [{ mid, kind: 'video', direction: 'sendonly', trackId: 'cam', codecs: [{ name: 'VP8', pt: 96 }] }],
  });
  return { publisher, present, permissions, offerOf };
}

const camera = [{ cid: 'cam', kind: 'VIDEO', source: 'CAMERA' }] as const;

test('[MED-35] a first offer that comes again by another transport, because its answer was lost, begins anew', async () => {
  const { publisher, present, offerOf } = await newPublisher();
  const lost = publisher.offer(camera, offerOf('first', '0'));
  const again = publisher.offer(camera, offerOf('second', '0'));
  assert.notEqual(again.description.ice?.pwd, undefined, 'the answer has a transport');
  assert.notDeepEqual(again.description.ice, lost.description.ice);
  assert.deepEqual([...present], ['trk_2'], 'the track is there once');
  // A client that describes the same transport whole again only adds to it.
  const more = publisher.offer([], offerOf('second', '0'));
  assert.deepEqual([more.description.ice, [...present]], [undefined, ['trk_2']]);
  publisher.close();
});

test('[MED-34] what the server muted stays muted when it is published again, by any transport, until the server unmutes it', async () => {
  const { publisher, offerOf } = await newPublisher();
  const onlyOne = () => {
    const [one, ...others] = publisher.publications.values();
    assert.ok(one && others.length === 0);
    return one;
  };
  publisher.offer(camera, offerOf('first', '0'));
  publisher.muteByServer(onlyOne(), true);
  publisher.unpublish([onlyOne().id]);
  const again = publisher.offer(camera, offerOf('first', '0'));
  assert.deepEqual(again.tracks, [{ cid: 'cam', trackId: 'trk_2', mutedByServer: true }]);
  assert.deepEqual([onlyOne().isMutedByServer, onlyOne().describe(0).muted], [true, true]);
  publisher.offer(camera, offerOf('second', '0'));
  assert.equal(onlyOne().isMutedByServer, true, 'another transport is the same participant');

  const own = (name: string) => [{ cid: 'cam', kind: 'VIDEO', source: 'UNKNOWN', name }] as const;
  publisher.offer(own('slides'), offerOf('second', '0'));
  assert.equal(onlyOne().isMutedByServer, false, 'another track is free');
  publisher.muteByServer(onlyOne(), true);
  publisher.offer(own('notes'), offerOf('second', '0'));
  assert.equal(onlyOne().isMutedByServer, false);
  publisher.offer(own('slides'), offerOf('second', '0'));
  assert.equal(onlyOne().isMutedByServer, true);

  publisher.offer(camera, offerOf('second', '0'));
  publisher.muteByServer(onlyOne(), false);
  const free = publisher.offer(camera, offerOf('third', '0'));
  assert.deepEqual([onlyOne().isMutedByServer, Object.keys(free.tracks[0] ?? {})], [false, ['cid', 'trackId']]);
  publisher.close();
});

test('[RTC-99] a microphone that the server muted is not heard again as a sound of another source or name', async () => {
  const { publisher, offerOf } = await newPublisher();
  let mid = 0;
  const publish = (ufrag: string, ...sounds: (readonly [MediaTrackRequest['source'], string?])[]): boolean[] => {
    const requests = sounds.map(([source, name]) => ({
      cid: `c${++mid}`,
      kind: 'AUDIO',
      source,
      ...(name && { name }),
    }));
    const media = requests.map(({ cid }) => ({
      mid: cid,
      kind: 'audio' as const,
      direction: 'sendonly' as const,
      trackId: cid,
      codecs: [{ name: 'opus' as const, pt: 111 }],
    }));
    const answer = publisher.offer(requests as MediaTrackRequest[], { ...offerOf(ufrag, '0'), media });
    return answer.tracks.map(({ mutedByServer = false }) => mutedByServer);
  };
  const find = (source: string, name?: string) =>
    [...publisher.publications.values()].find(({ request }) => request.source === source && request.name === name) ??
    assert.fail(source);

  assert.deepEqual(publish('one', ['MICROPHONE'], ['UNKNOWN', 'piano']), [false, false]);
  publisher.muteByServer(find('MICROPHONE'), true);
  assert.equal(find('UNKNOWN', 'piano').isMutedByServer, false, 'what the server left on stays on');
  assert.deepEqual(publish('one', ['SCREEN_SHARE_AUDIO'], ['UNKNOWN', 'x'], ['CAMERA']), [true, true, true]);
  assert.deepEqual(
    publish('two', ['MICROPHONE'], ['UNKNOWN', 'piano'], ['SCREEN_SHARE_AUDIO']),
    [true, false, true],
    'by another transport it is the same',
  );
  publisher.muteByServer(find('SCREEN_SHARE_AUDIO'), false);
  assert.deepEqual(publish('three', ['SCREEN_SHARE_AUDIO'], ['UNKNOWN', 'y'], ['MICROPHONE']), [false, true, true]);
  publisher.muteByServer(find('MICROPHONE'), false);
  assert.deepEqual(publish('four', ['MICROPHONE'], ['UNKNOWN', 'y']), [false, false], 'no sound is muted any more');
  publisher.close();
});

test('[MED-22] who may not publish any more gets no other transport, neither by an empty offer nor by a restart', async () => {
  const { publisher, present, permissions, offerOf } = await newPublisher();
  publisher.offer(camera, offerOf('first', '0'));
  const { transport } = publisher;
  permissions.publish = false;
  publisher.enforce();
  assert.equal(present.size, 0);
  assert.throws(() => publisher.offer([], { ...offerOf('second', '0'), media: [] }), { code: 'FORBIDDEN' });
  assert.throws(() => publisher.restart(offerOf('second', '0')), { code: 'FORBIDDEN' });
  assert.equal(publisher.transport, transport);
  publisher.close();
});

const onError = (error: unknown) => assert.fail(String(error));
const openEngine = async () =>
  new Engine({
    clock: systemClock,
    legs: new Legs(await PipeSocket.open('127.0.0.1', onError), systemClock),
    random: Math.random,
    newTrackId: () => 'track',
    udpPort: await ownPort(),
    bindAddress: undefined,
    certificate: createCertificate(Date.now()),
    iceKey: Buffer.alloc(32),
    candidates: () => [],
    emit: () => {},
    onError,
  });

test('[RUN-32] the sweep of a media node looks at each transport once, however many rooms there are', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let looks = 0;
  t.mock.getter(PeerTransport.prototype, 'state', () => {
    looks += 1;
    return 'NEW' as const;
  });
  const engine = await openEngine();
  const open = (from: number, to: number): void => {
    for (let n = from; n < to; n++) {
      const room = `room-${n}`;
      engine.handle({ type: 'room.open', data: { room } });
      const data = { room, participant: `p-${n}`, identity: 'a', permissions: everything, autoSubscribe: true };
      engine.handle({ type: 'participant.add', data });
    }
  };
  const looksOfASweep = (): number => {
    looks = 0;
    t.mock.timers.tick(500);
    return looks;
  };
  open(0, 3);
  const few = looksOfASweep();
  open(3, 6);
  const many = looksOfASweep();
  engine.close();
  assert.equal(few, 3, 'who publishes nothing has one transport');
  assert.equal(many, 2 * few);
});

test('[MED-124] a media process without rooms is woken for its pipes alone, five times a second', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { mock } = t.mock.method(Legs.prototype, 'tick');
  const engine = await openEngine();
  const ticksOfASecond = (): number => {
    mock.resetCalls();
    t.mock.timers.tick(1000);
    return mock.callCount();
  };
  assert.equal(ticksOfASecond(), 5);
  for (const room of ['first', 'second']) engine.handle({ type: 'room.open', data: { room } });
  assert.equal(ticksOfASecond(), 50);
  engine.handle({ type: 'room.close', data: { room: 'first', reason: 'ROOM_CLOSED' } });
  assert.equal(ticksOfASecond(), 50, 'the second room is there');
  engine.handle({ type: 'room.close', data: { room: 'second', reason: 'ROOM_CLOSED' } });
  assert.equal(ticksOfASecond(), 5);
  engine.close();
  assert.equal(ticksOfASecond(), 0);
});
