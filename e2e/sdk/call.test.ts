import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { fullRateCamera, skipWithoutBrowser } from '../browser.ts';
import { type CallPage, openSdk, type SdkKit } from './kit.ts';

const skip = skipWithoutBrowser();
let kit: SdkKit;
let ada: CallPage;
let bob: CallPage;
let room: Awaited<ReturnType<SdkKit['newRoom']>>;

before(async () => {
  if (skip) return;
  kit = await openSdk({ args: [fullRateCamera] });
  room = await kit.newRoom();
  ada = await kit.caller(room, 'ada');
  bob = await kit.caller(room, 'bob');
});
after(async () => {
  if (skip) return;
  await kit.close();
  assert.deepEqual(kit.problems, [], 'no page had an uncaught error');
});

const soon = (check: () => Promise<void>): Promise<void> => eventually(check, { withinMs: 30_000 });

test('[SDK-23] two pages see and hear each other', { skip }, async (context) => {
  await ada.join();
  await ada.setMicrophone(true);
  await ada.setCamera(true, {});
  await bob.join();
  await bob.setMicrophone(true);
  await bob.setCamera(true, {});
  await ada.watches('bob');
  await bob.watches('ada');
  for (const [who, other] of [
    [ada, 'bob'],
    [bob, 'ada'],
  ] as const)
    await soon(async () => assert.ok((await who.view(other)).audioEnergy > 0, 'silence'));
  // A steady tone: the browser's own microphone only beeps, too briefly to count as speech every time.
  await bob.page.evaluate(async () => {
    await window.caller.room.self.publish(window.sdk.createTestTracks().audio);
  });
  await soon(async () =>
    assert.ok(
      (await ada.log()).some((line) => /^speakers .*bob/.test(line)),
      'nobody speaks',
    ),
  );
  await bob.page.evaluate(async () => {
    for (const track of window.caller.room.self.tracks) if (track.source === 'UNKNOWN') await track.stop();
  });
  await soon(async () => assert.deepEqual(await ada.tiles(), ['bob CAMERA', 'bob MICROPHONE']));
  const { join, firstFrame } = await bob.page.evaluate(() => window.caller.times);
  context.diagnostic(`from join() to the first remote frame: ${Math.round((firstFrame ?? 0) - (join ?? 0))} ms`);
  assert.deepEqual(await bob.tiles(), ['ada CAMERA', 'ada MICROPHONE']);
});

test('[SDK-24] mute is announced and heard, a camera is released and comes back', { skip }, async () => {
  await bob.setCamera(false);
  await soon(async () => assert.ok((await ada.log()).includes('muted bob')));
  const isReleased = await bob.page.evaluate(() => window.caller.room.self.camera?.mediaStreamTrack.readyState);
  assert.equal(isReleased, 'ended', 'the light of the camera is out');
  const { framesDecoded } = await ada.view('bob');
  await bob.setCamera(true, {});
  await soon(async () => assert.ok((await ada.log()).includes('unmuted bob')));
  await soon(async () => assert.ok((await ada.view('bob')).framesDecoded > framesDecoded + 5));
  assert.deepEqual(await ada.tiles(), ['bob CAMERA', 'bob MICROPHONE'], 'the same tile');
});

test('[SDK-25] the layer follows the size on the page and the setting', { skip }, async () => {
  // A busy publisher makes all its layers smaller, so what is compared is one with another.
  let lowest = 0;
  const isLow = async () => {
    lowest = (await bob.view('ada')).frameWidth;
    assert.ok(lowest > 0 && lowest <= 320, `${lowest} pixels`);
  };
  const isHigher = async () =>
    assert.ok((await bob.view('ada')).frameWidth >= lowest * 2, `not above ${lowest} pixels`);
  const resize = (px: number) =>
    bob.page.evaluate((size) => {
      const video = document.querySelector<HTMLElement>('[data-tile="ada CAMERA"]');
      if (video) Object.assign(video.style, { width: `${size}px`, height: `${(size * 9) / 16}px` });
    }, px);
  await resize(160);
  await soon(isLow);
  await resize(1280);
  await soon(isHigher);
  const prefer = (quality: 'low' | 'high', fps: number) =>
    bob.page.evaluate(
      ([level, rate]) => {
        const tracks = [...(window.caller.room.participants.get('ada')?.tracks.values() ?? [])];
        for (const track of tracks.filter(({ kind }) => kind === 'video')) {
          track.setQuality(level);
          track.setFrameRate(rate);
        }
      },
      [quality, fps] as const,
    );
  await prefer('low', 8);
  await soon(isLow);
  await soon(async () => assert.ok((await bob.view('ada')).framesPerSecond <= 9));
  await prefer('high', 60);
  await soon(isHigher);
  await soon(async () => assert.ok((await bob.view('ada')).framesPerSecond > 9));
});

test('[SDK-46] a track that the server pauses says so, and that it goes on', { skip }, async () => {
  const { log } = bob;
  const enable = (isEnabled: boolean) =>
    bob.page.evaluate((wanted) => {
      const tracks = [...(window.caller.room.participants.get('ada')?.tracks.values() ?? [])];
      for (const track of tracks) if (track.kind === 'video') track.setEnabled(wanted);
    }, isEnabled);
  await enable(false);
  await soon(async () => assert.ok((await log()).includes('paused ada CAMERA (settings)')));
  const pausedAt = (await log()).lastIndexOf('paused ada CAMERA (settings)');
  await enable(true);
  await soon(async () => assert.ok((await log()).indexOf('active ada CAMERA', pausedAt) > pausedAt));
});

test('[SDK-26] a screen is shared beside the camera, and ends for everybody', { skip }, async () => {
  await ada.page.evaluate(async () => {
    // Headless browsers have no screen to choose: what the user would pick is a canvas.
    const { video } = window.sdk.createTestTracks({ label: 'screen' });
    navigator.mediaDevices.getDisplayMedia = async () => new MediaStream([video]);
    await window.caller.room.self.setScreenShare(true);
  });
  await soon(async () => assert.deepEqual(await bob.tiles(), ['ada CAMERA', 'ada MICROPHONE', 'ada SCREEN_SHARE']));
  await ada.page.evaluate(async () => void (await window.caller.room.self.setScreenShare(false)));
  await soon(async () => assert.deepEqual(await bob.tiles(), ['ada CAMERA', 'ada MICROPHONE']));
});

test('[SDK-27] data and questions go both ways', { skip }, async () => {
  await ada.page.evaluate(() => window.caller.room.self.sendData('hello', { topic: 'greeting' }));
  await bob.page.evaluate(() =>
    window.caller.room.self.sendData(new Uint8Array([104, 105]), { to: ['ada'], reliable: false }),
  );
  await kit.api.call('sendRoomData', { id: room.id, body: { payload: 'from the backend' } });
  const received = ({ page }: CallPage) => page.evaluate(() => window.caller.data);
  await soon(async () => assert.deepEqual((await received(ada)).sort(), ['bob - hi', 'server - from the backend']));
  await soon(async () =>
    assert.deepEqual((await received(bob)).sort(), ['ada greeting hello', 'server - from the backend']),
  );
  await bob.page.evaluate(() => {
    window.caller.room.handleRpc('add', (payload, from) => `${from}: ${Number(payload) + 1}`);
  });
  assert.equal(await ada.page.evaluate(() => window.caller.room.self.rpc('bob', 'add', '41')), 'ada: 42');
  const code = await ada.page.evaluate(() =>
    window.caller.room.self.rpc('bob', 'unknown').catch((error: { code: string }) => error.code),
  );
  assert.equal(code, 'METHOD_NOT_FOUND');
});

test('[SDK-28] a viewer sees but cannot publish, and the error says how to change that', { skip }, async () => {
  const eve = await kit.caller(room, 'eve', { mint: { permissions: {} } });
  await eve.join();
  await eve.watches('ada');
  const error = await eve.page.evaluate(() =>
    window.caller.room.self.setCamera(true).catch(({ name, code, message }: Error & { code: string }) => ({
      name,
      code,
      message,
    })),
  );
  assert.deepEqual(error, {
    name: 'PermissionError',
    code: 'SVC_PUBLISH_NOT_ALLOWED',
    message: 'This RTC token does not allow publishing. Mint it with `permissions: speaker()` or `{ publish: true }`.',
  });
  await eve.page.evaluate(() => window.caller.room.leave());
  await soon(async () => assert.ok((await ada.log()).includes('left eve (client)')));
  assert.deepEqual(await eve.tiles(), []);
});

test('[SDK-29] unpublishing ends the tile; leaving ends everything', { skip }, async () => {
  await bob.page.evaluate(() => window.caller.room.self.camera?.stop());
  await soon(async () => assert.deepEqual(await ada.tiles(), ['bob MICROPHONE']));
  await bob.setCamera(true, {});
  await ada.watches('bob');
  await bob.page.evaluate(() => window.caller.room.leave());
  await soon(async () => assert.deepEqual(await ada.tiles(), []));
  assert.deepEqual(await bob.page.evaluate(() => window.caller.room.self.tracks.size), 0);
  await bob.join();
  await bob.watches('ada');
});

test('[SDK-30] the connection check reports what a call would find', { skip }, async () => {
  const { token } = await kit.api.call('mintRtcToken', {
    roomId: room.id,
    body: { participantIdentity: 'checker', permissions: { publish: true, publishData: true } },
  });
  const page = await kit.page();
  const steps = await page.evaluate(
    async ([url, fixed]) => {
      const found: string[] = [];
      for await (const { name, status, detail, error } of window.sdk.checkConnection({ url, token: fixed }))
        found.push(`${name} ${status} ${error?.message ?? detail ?? ''}`.trim());
      return found;
    },
    [kit.url, token] as const,
  );
  assert.deepEqual(steps, [
    'browser ok',
    'secureContext ok',
    'signaling ok',
    'media ok udp',
    'data ok',
    'camera ok 1 found',
    'microphone ok 3 found',
  ]);
});
