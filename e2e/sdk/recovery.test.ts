import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Room } from '@parley/contract';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { skipWithoutBrowser } from '../browser.ts';
import { type CallPage, openSdk, plainSound, type SdkKit } from './kit.ts';

const skip = skipWithoutBrowser();
let kit: SdkKit;
let room: Room;
let ada: CallPage;
let bob: CallPage;

before(async () => {
  if (skip) return;
  kit = await openSdk();
  room = await kit.newRoom();
  ada = await kit.caller(room, 'ada');
  bob = await kit.caller(room, 'bob');
  await meet();
});
after(async () => {
  if (skip) return;
  await kit.close();
  assert.deepEqual(kit.problems, [], 'no page had an uncaught error');
});

/** A call without a past: after each outage in a row the SDK waits longer, up to half a minute. */
async function meet(): Promise<void> {
  for (const one of [ada, bob]) {
    await one.page.evaluate(() => window.caller.room.leave());
    await one.join();
    await one.setCamera(true);
  }
  await ada.setMicrophone(true, plainSound);
  await isWhole();
  await forget();
}

const soon = (check: () => Promise<void>): Promise<void> => eventually(check, { withinMs: 60_000 });

/** Starts a fresh page of the notebook. */
const forget = async (): Promise<void> => {
  for (const { page } of [ada, bob]) await page.evaluate(() => window.caller.log.splice(0));
};

/** Both are connected, see each other live, and have one tile for each track. */
async function isWhole(): Promise<void> {
  for (const [who, other, tiles] of [
    [ada, 'bob', ['bob CAMERA']],
    [bob, 'ada', ['ada CAMERA', 'ada MICROPHONE']],
  ] as const) {
    await soon(async () => assert.equal(await who.state(), 'connected', (await who.log()).join('\n')));
    await soon(async () => assert.deepEqual(await who.tiles(), tiles, (await who.log()).join('\n')));
    await who.watches(other);
  }
}

test('[SDK-31] a lost signaling socket is taken up again: media and tiles stay', { skip }, async () => {
  await forget();
  kit.tcp.cut();
  await soon(async () => assert.equal(await ada.state(), 'reconnecting'));
  kit.tcp.restore();
  await isWhole();
  for (const one of [ada, bob]) {
    const log = (await one.log()).filter((line) => !line.startsWith('speakers'));
    assert.deepEqual(log, ['connected → reconnecting (network)', 'reconnecting → connected'], 'nothing else happened');
  }
});

test('[SDK-31] what happened during the outage is emitted once', { skip }, async () => {
  const carol = await kit.caller(room, 'carol');
  kit.tcp.cut();
  await soon(async () => assert.equal(await ada.state(), 'reconnecting'));
  await forget();
  kit.tcp.restore();
  await carol.join();
  await isWhole();
  for (const one of [ada, bob])
    await soon(async () => assert.equal((await one.log()).filter((line) => line === 'joined carol').length, 1));
  await carol.page.evaluate(() => window.caller.room.leave());
  for (const one of [ada, bob]) await soon(async () => assert.ok((await one.log()).includes('left carol (client)')));
});

test('[MED-77] an offer that the browser refuses once costs no track: all come over another transport, without a rejoin', {
  skip,
}, async () => {
  await forget();
  await ada.page.evaluate(() => {
    const { prototype } = RTCPeerConnection;
    const { setRemoteDescription } = prototype;
    prototype.setRemoteDescription = async () => {
      prototype.setRemoteDescription = setRemoteDescription;
      throw new DOMException('refused once', 'InvalidAccessError');
    };
  });
  const carol = await kit.caller(room, 'carol');
  await carol.join();
  await carol.setCamera(true);
  const log = async () => (await ada.log()).join('\n');
  await soon(async () => assert.match(await log(), /^error .*refused once$/m));
  await soon(async () => assert.deepEqual(await ada.tiles(), ['bob CAMERA', 'carol CAMERA'], await log()));
  for (const identity of ['bob', 'carol']) await ada.watches(identity);
  await soon(async () => assert.equal(await ada.state(), 'connected', await log()));
  assert.match(await log(), /^unsubscribed bob CAMERA$/m, 'the node was asked for another transport');
  const toBob = (await bob.log()).filter((line) => !line.startsWith('speakers'));
  assert.doesNotMatch(toBob.join('\n'), /ada/, 'to others she was there all the time');
  await carol.page.evaluate(() => window.caller.room.leave());
  await isWhole();
});

/** The next time that her browser begins this, she leaves: it never settles what is under way at a closed connection. */
const leavesDuring = (step: 'setRemoteDescription' | 'setLocalDescription'): Promise<void> =>
  ada.page.evaluate((name) => {
    const { prototype } = RTCPeerConnection;
    const native = prototype[name] as (given?: RTCSessionDescriptionInit) => Promise<void>;
    Object.assign(prototype, {
      [name](this: RTCPeerConnection, given?: RTCSessionDescriptionInit) {
        // With a description it is the one who subscribes that describes itself.
        if (name === 'setLocalDescription' && given) return native.call(this, given);
        Object.assign(prototype, { [name]: native });
        const done = native.call(this, given);
        queueMicrotask(() => void window.caller.room.leave());
        return done;
      },
    });
  }, step);
const hasLeft = (): Promise<void> => soon(async () => assert.equal(await ada.state(), 'disconnected'));

test('[SDK-151] who leaves while a track is being subscribed joins again and gets everything', { skip }, async () => {
  await leavesDuring('setRemoteDescription');
  await bob.setMicrophone(true, plainSound);
  await hasLeft();
  await meet();
});

test('[SDK-151] who leaves while a track is being published is told so, joins again and sends everything', {
  skip,
}, async () => {
  await ada.page.evaluate(() => window.caller.room.leave());
  await ada.join();
  await soon(async () => assert.deepEqual(await ada.tiles(), ['bob CAMERA']));
  await leavesDuring('setLocalDescription');
  await assert.rejects(ada.setCamera(true), /ConnectionError/);
  await hasLeft();
  await meet();
});

test('[SDK-32] another server process takes over', { skip }, async () => {
  await forget();
  await kit.replaceServer();
  await isWhole();
  for (const one of [ada, bob]) assert.ok((await one.log()).includes('reconnecting → connected'));
});

test('[SDK-33] no network at all for ten seconds: it comes back, without a ghost', { skip }, async () => {
  await meet();
  kit.tcp.freeze();
  kit.setLoss(1);
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  kit.setLoss(0);
  kit.tcp.restore();
  await isWhole();
});

test('[SDK-149] data that is sent while the network is away comes once, by the transport that follows', {
  skip,
}, async () => {
  await meet();
  for (const { page } of [ada, bob]) await page.evaluate(() => window.caller.data.splice(0));
  const send = (payload: string) => kit.api.call('sendRoomData', { id: room.id, body: { payload } });
  const arrives = async (...payloads: string[]): Promise<void> => {
    for (const { page } of [ada, bob])
      await soon(async () =>
        assert.deepEqual(
          await page.evaluate(() => window.caller.data),
          payloads.map((payload) => `server - ${payload}`),
        ),
      );
  };
  await send('before');
  await arrives('before');
  for (const { page } of [ada, bob])
    await page.evaluate(() => {
      const { caller, RTCPeerConnection: Native } = window;
      window.RTCPeerConnection = class extends Native {
        constructor(configuration?: RTCConfiguration) {
          super(configuration);
          caller.log.push('another transport');
        }
      };
    });
  kit.setLoss(1);
  await send('one');
  await send('two');
  kit.tcp.freezeOpenOnes();
  // Another network: signaling is connected anew, and both transports are replaced at once.
  for (const { page } of [ada, bob]) await page.evaluate(() => void window.dispatchEvent(new Event('online')));
  for (const one of [ada, bob])
    await soon(async () => assert.equal((await one.log()).filter((line) => line === 'another transport').length, 2));
  kit.setLoss(0);
  kit.tcp.restore();
  await isWhole();
  await send('three');
  await arrives('before', 'one', 'two', 'three');
});

test('[SDK-34] a media process is killed: all rejoin and see each other', { skip }, async () => {
  await meet();
  kit.killMediaProcess();
  await soon(async () => assert.ok((await ada.log()).some((line) => line.startsWith('connected → reconnecting'))));
  await isWhole();
});

test('[SDK-34] a media node goes and another takes the room', { skip }, async () => {
  await meet();
  await kit.replaceNode();
  await isWhole();
});

test('[SDK-35] a revoked token, a second join and a closed room end the stay with their reason', { skip }, async () => {
  const eve = await kit.caller(room, 'eve');
  await eve.join();
  await kit.api.call('revokeRtcToken', { roomId: room.id, tokenId: eve.tokenIds.at(-1) ?? '' });
  await soon(async () => assert.equal((await eve.log()).at(-1), 'connected → disconnected (token_revoked)'));

  const twin = await kit.caller(room, 'bob');
  await twin.join();
  await soon(async () => assert.equal((await bob.log()).at(-1), 'connected → disconnected (duplicate_identity)'));
  assert.deepEqual(await bob.tiles(), []);

  await kit.api.call('closeRoom', { id: room.id });
  for (const one of [ada, twin])
    await soon(async () => assert.equal((await one.log()).at(-1), 'connected → disconnected (room_closed)'));
  assert.deepEqual(await ada.tiles(), []);
});
