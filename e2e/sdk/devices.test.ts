import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { skipWithoutBrowser } from '../browser.ts';
import { type CallPage, openSdk, type SdkKit } from './kit.ts';

const skip = skipWithoutBrowser();
let kit: SdkKit;
let ada: CallPage;
let bob: CallPage;
let room: Awaited<ReturnType<SdkKit['newRoom']>>;

before(async () => {
  if (skip) return;
  // The later of two switches counts: these pages play sound only after a gesture, as everybody's do. Of the three fake
  // cameras the second shows depth, which no browser encodes.
  kit = await openSdk({
    args: [
      '--use-fake-device-for-media-stream=device-count=3,fps=10',
      '--autoplay-policy=document-user-activation-required',
    ],
  });
  room = await kit.newRoom();
  ada = await kit.caller(room, 'ada');
  bob = await kit.caller(room, 'bob', { room: { autoSubscribe: false } });
  await ada.join();
  await ada.setCamera(true);
  await bob.join();
});
after(async () => {
  if (skip) return;
  await kit.close();
  assert.deepEqual(kit.problems, [], 'no page had an uncaught error');
});

const soon = (check: () => Promise<void>): Promise<void> => eventually(check, { withinMs: 30_000 });
const camera = () =>
  ada.page.evaluate(() => {
    const { camera } = window.caller.room.self;
    return camera && { id: camera.id, deviceId: camera.deviceId, isOn: camera.mediaStreamTrack.readyState === 'live' };
  });
const cameras = () =>
  ada.page.evaluate(async () =>
    (await navigator.mediaDevices.enumerateDevices())
      .filter(({ kind }) => kind === 'videoinput')
      .map(({ deviceId }) => deviceId),
  );
const publicationsOfAda = () => bob.page.evaluate(() => window.caller.room.participants.get('ada')?.publications.size);
const setDevice = (deviceId: string) =>
  ada.page.evaluate(
    (id) => window.caller.room.self.camera?.setDevice(id).catch(({ code }: { code: string }) => code),
    deviceId,
  );

test('[SDK-36] with autoSubscribe: false nothing comes that was not asked for', { skip }, async () => {
  await soon(async () => assert.ok((await bob.log()).includes('published ada video')));
  assert.deepEqual(await bob.tiles(), []);
  const ask = (what: 'subscribe' | 'unsubscribe') =>
    bob.page.evaluate((call) => window.caller.room.participants.get('ada')?.[call](), what);
  await ask('subscribe');
  await soon(async () => assert.deepEqual(await bob.tiles(), ['ada CAMERA']));
  await bob.watches('ada');
  await ask('unsubscribe');
  await soon(async () => assert.deepEqual(await bob.tiles(), []));
  await ada.setMicrophone(true);
  await soon(async () => assert.ok((await bob.log()).includes('published ada audio')));
  assert.deepEqual(await bob.tiles(), []);
  await ask('subscribe');
  await soon(async () => assert.deepEqual(await bob.tiles(), ['ada CAMERA', 'ada MICROPHONE']));
  await bob.watches('ada');
});

test('[SDK-37] another device takes over without a new track; one that is not there changes nothing', {
  skip,
}, async () => {
  const [first = '', , second = ''] = await cameras();
  const before = await camera();
  assert.deepEqual([first !== second, before?.deviceId], [true, first]);
  const told = (await bob.log()).length;
  await setDevice(second);
  assert.deepEqual(await camera(), { id: before?.id, deviceId: second, isOn: true });
  await bob.watches('ada');
  assert.equal(await setDevice('none'), 'device_not_found');
  assert.deepEqual(await camera(), { id: before?.id, deviceId: second, isOn: true });
  await bob.watches('ada');
  const received = (await bob.log()).slice(told).filter((line) => !line.startsWith('speakers'));
  assert.deepEqual(received, [], 'the others noticed nothing else');

  await ada.setCamera(false);
  await setDevice(first);
  assert.equal((await camera())?.isOn, false, 'a camera that is off stays off');
  await ada.setCamera(true);
  assert.deepEqual(await camera(), { id: before?.id, deviceId: first, isOn: true });
  await ada.page.evaluate((deviceId) => window.caller.room.self.setCamera(true, { deviceId }).then(() => {}), second);
  assert.deepEqual(await camera(), { id: before?.id, deviceId: second, isOn: true });
  await bob.watches('ada');
});

test('[SDK-38] an unplugged device is reported, its track ends for all, and another can be opened', {
  skip,
}, async () => {
  // What the browser does when a device goes; after setDevice it is the new one that counts.
  await ada.page.evaluate(() => {
    const media = window.caller.room.self.camera?.mediaStreamTrack;
    media?.stop();
    media?.dispatchEvent(new Event('ended'));
  });
  await soon(async () => assert.deepEqual(await bob.tiles(), ['ada MICROPHONE']));
  // The media may go before the word of it arrives; what is there of the old would be taken for the new below.
  await soon(async () => assert.equal(await publicationsOfAda(), 1));
  assert.ok(
    (await ada.log()).includes('error device_lost: The camera was disconnected. Choose another one.'),
    (await ada.log()).join('\n'),
  );
  assert.equal(await camera(), null);
  const [first = ''] = await cameras();
  await ada.page.evaluate((deviceId) => window.caller.room.self.setCamera(true, { deviceId }).then(() => {}), first);
  await soon(async () => assert.equal(await publicationsOfAda(), 2));
  await bob.page.evaluate(() => window.caller.room.participants.get('ada')?.subscribe());
  await soon(async () =>
    assert.deepEqual(await bob.tiles(), ['ada CAMERA', 'ada MICROPHONE'], (await bob.log()).join('\n')),
  );
  await bob.watches('ada');
});

test('[SDK-39] sound that the browser blocks is reported, and starts with a gesture', { skip }, async () => {
  const page = await kit.blankPage();
  const { token } = await kit.api.call('mintRtcToken', {
    roomId: room.id,
    body: { participantIdentity: 'carol', permissions: {} },
  });
  // Neither by evaluate() nor by exposeFunction(), whose answers are evaluated too: both count as a gesture, and a reload
  // keeps it. The page does it all by itself, as one that is opened does, and says it on its console.
  let seen = '';
  page.on('console', (line) => {
    seen = line.text();
  });
  await page.addInitScript(
    ([url, fixed]) => {
      addEventListener('load', async () => {
        const name = 'sdk';
        window.sdk = await import(name);
        window.caller = new window.sdk.Caller({ url, token: fixed });
        const told: boolean[] = [];
        window.caller.room.on('audioBlocked', (isBlocked) => told.push(isBlocked));
        await window.caller.join();
        setInterval(() => {
          const audio = document.querySelector<HTMLMediaElement>('[data-tile="ada MICROPHONE"]');
          console.debug(`blocked: ${told.join()}; paused: ${audio?.paused}`);
        }, 100);
      });
    },
    [kit.url, token] as const,
  );
  await page.reload();
  await soon(async () => assert.equal(seen, 'blocked: true; paused: true'));
  await page.evaluate(() => window.caller.room.startAudio());
  await soon(async () => assert.equal(seen, 'blocked: true,false; paused: false'));
  await page.close();
});
