import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { DeviceKind, Devices } from '@parley/client';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { skipWithoutBrowser } from '../browser.ts';
import { type CallPage, openSdk, type SdkKit } from './kit.ts';

declare global {
  interface Window {
    devices: Devices;
  }
}

const skip = skipWithoutBrowser();
let kit: SdkKit;
let ada: CallPage;
let bob: CallPage;

before(async () => {
  if (skip) return;
  // Of the three fake cameras the second shows depth, which no browser encodes.
  kit = await openSdk({ args: ['--use-fake-device-for-media-stream=device-count=3,fps=10'] });
  const room = await kit.newRoom();
  ada = await kit.caller(room, 'ada');
  bob = await kit.caller(room, 'bob');
  for (const { page } of [ada, bob]) await page.evaluate(giveDevices, kit.url);
  await bob.join();
  await ada.join();
  await ada.setCamera(true);
  await ada.setMicrophone(true);
  await bob.watches('ada');
});
after(async () => {
  if (skip) return;
  await kit.close();
  assert.deepEqual(kit.problems, [], 'no page had an uncaught error');
});

async function giveDevices(url: string): Promise<void> {
  window.devices = window.sdk.createDevices();
  await window.devices.request();
  window.caller = new window.sdk.Caller({ url, token: () => window.mintToken(), devices: window.devices });
}

const soon = (check: () => Promise<void>): Promise<void> => eventually(check, { withinMs: 30_000 });
const choose = ({ page }: CallPage, kind: DeviceKind, deviceId: string) =>
  page.evaluate(([which, id]) => window.devices.choose(which, id), [kind, deviceId] as const);
const listed = ({ page }: CallPage) => page.evaluate(() => window.devices.state.getSnapshot());
const sent = (source: 'camera' | 'microphone') =>
  ada.page.evaluate((which) => {
    const track = window.caller.room.self[which];
    return { id: track?.id, deviceId: track?.deviceId };
  }, source);
const heardOfAda = async () => (await bob.view('ada')).audioEnergy;
/** What the others were told, speakers apart. */
const told = async () => (await bob.log()).filter((line) => !line.startsWith('speakers'));

/** Does something and proves that the others get the same tracks, still moving. */
async function withoutPublication(change: () => Promise<unknown>): Promise<void> {
  const before = await Promise.all([sent('camera'), sent('microphone')]);
  const lines = await told();
  await change();
  const after = await Promise.all([sent('camera'), sent('microphone')]);
  assert.deepEqual(
    after.map(({ id }) => id),
    before.map(({ id }) => id),
  );
  await bob.watches('ada');
  assert.deepEqual(await told(), lines, 'the others noticed nothing else');
}

test('[SDK-61] a page lists its devices with labels once it may use them', { skip }, async () => {
  const { microphones, cameras, speakers, hasLabels } = await listed(ada);
  assert.equal(hasLabels, true);
  assert.equal(cameras.length, 3);
  assert.ok(microphones.length >= 2 && speakers.length >= 1, JSON.stringify({ microphones, speakers }));
  for (const { label, deviceId } of [...microphones, ...cameras]) assert.ok(label.length > 8 && deviceId, label);
});

test('[SDK-62] camera and microphone are switched during a call without a new publication, and remembered', {
  skip,
}, async () => {
  const { cameras, microphones } = await listed(ada);
  const camera = cameras[2]?.deviceId ?? '';
  const microphone = microphones.at(-1)?.deviceId ?? '';
  assert.notEqual((await sent('camera')).deviceId, camera);
  await withoutPublication(() => choose(ada, 'camera', camera));
  assert.equal((await sent('camera')).deviceId, camera);
  await withoutPublication(() => choose(ada, 'microphone', microphone));
  assert.equal((await sent('microphone')).deviceId, microphone);
  const before = await heardOfAda();
  await soon(async () => assert.ok((await heardOfAda()) > before, 'the new microphone is heard'));

  const code = await ada.page.evaluate(() =>
    window.devices.choose('camera', 'none').catch((error: { code: string }) => error.code),
  );
  assert.deepEqual([code, (await sent('camera')).deviceId], ['device_not_found', camera]);
  const chosen = await ada.page.evaluate(() => window.sdk.createDevices().state.getSnapshot().chosen);
  assert.deepEqual(chosen, { microphone, camera, speaker: null }, 'the next visit begins with them');
  await bob.watches('ada');
});

test('[SDK-64] noise and echo settings change during a call without a new publication', { skip }, async () => {
  const settings = () =>
    ada.page.evaluate(() => {
      const { echoCancellation, noiseSuppression } =
        window.caller.room.self.microphone?.mediaStreamTrack.getSettings() ?? {};
      return { echoCancellation, noiseSuppression };
    });
  assert.deepEqual(await settings(), { echoCancellation: true, noiseSuppression: true });
  const off = { echoCancellation: false, noiseSuppression: false };
  await withoutPublication(() =>
    ada.page.evaluate(async (options) => void (await window.caller.room.self.setMicrophone(true, options)), off),
  );
  assert.deepEqual(await settings(), off);
});

test('[SDK-65] the others are heard from the chosen speaker', { skip }, async () => {
  const speaker = (await listed(bob)).speakers.at(-1)?.deviceId ?? '';
  const sinks = () => bob.page.evaluate(() => [...document.querySelectorAll('audio')].map((element) => element.sinkId));
  await soon(async () => assert.deepEqual(await sinks(), ['']));
  await choose(bob, 'speaker', speaker);
  assert.deepEqual(await sinks(), [speaker]);
  await ada.page.evaluate(() => {
    const { audio } = window.sdk.createTestTracks();
    return window.caller.room.self.publish(audio).then(() => {});
  });
  await soon(async () => assert.deepEqual(await sinks(), [speaker, speaker]));
});

test('[SDK-67] a microphone shows its level before the call', { skip }, async () => {
  const loudest = await ada.page.evaluate(async () => {
    const track = await window.sdk.captureMicrophone();
    const meter = window.sdk.createLevelMeter(track);
    const levels: number[] = [];
    await new Promise<void>((resolve) => {
      const stop = meter.level.subscribe(() => {
        levels.push(meter.level.getSnapshot());
        if (levels.length < 3) return;
        stop();
        resolve();
      });
    });
    meter.stop();
    meter.stop();
    track.stop();
    return Math.max(...levels);
  });
  // The fake microphone beeps.
  assert.ok(loudest > 0.2 && loudest <= 1, String(loudest));
});

/** How much of the sharp edges of a test card a processor leaves, on the person's side and on the other. */
async function sharpness(hasStreams: boolean): Promise<{ person: number; background: number }> {
  const { sdk } = window;
  const half = Object.assign(document.createElement('canvas'), { width: 64, height: 36 });
  half.getContext('2d')?.fillRect(0, 0, 32, 36);
  const native = Object.getOwnPropertyDescriptor(window, 'MediaStreamTrackGenerator');
  if (!hasStreams) Object.defineProperty(window, 'MediaStreamTrackGenerator', { value: undefined, configurable: true });
  const card = sdk.createTestTracks({ width: 640, height: 360 });
  const blur = sdk.blur.backgroundBlur({ segmenter: { segment: () => half } });
  const [raw, blurred] = await Promise.all([edgesOf(card.video), edgesOf(await blur.start(card.video))]);
  blur.stop();
  card.stop();
  if (native) Object.defineProperty(window, 'MediaStreamTrackGenerator', native);
  return { person: blurred[0] / raw[0], background: blurred[1] / raw[1] };

  async function edgesOf(track: MediaStreamTrack): Promise<[left: number, right: number]> {
    const video = Object.assign(document.createElement('video'), { muted: true, srcObject: new MediaStream([track]) });
    await video.play();
    await new Promise((resolve) => video.requestVideoFrameCallback(resolve));
    const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 360 });
    const context = canvas.getContext('2d');
    context?.drawImage(video, 0, 0, 640, 360);
    const { data } = context?.getImageData(0, 20, 640, 1) ?? { data: [] };
    const edges: [number, number] = [0, 0];
    for (let x = 1; x < 640; x++) {
      const step = Math.abs((data[x * 4] ?? 0) - (data[x * 4 - 4] ?? 0));
      edges[x < 320 ? 0 : 1] += step * step;
    }
    return edges;
  }
}

test('[SDK-68] the background is blurred and the person is not, by insertable streams and on a canvas', {
  skip,
}, async () => {
  for (const hasStreams of [true, false]) {
    const { person, background } = await ada.page.evaluate(sharpness, hasStreams);
    assert.ok(person > 0.7 && background < 0.3, JSON.stringify({ hasStreams, person, background }));
  }
});

test('[SDK-66] a processor comes into a call and leaves it without a new publication', { skip }, async () => {
  const camera = (await sent('camera')).deviceId;
  await withoutPublication(() =>
    ada.page.evaluate(async () => {
      const person = document.createElement('canvas');
      const processor = window.sdk.blur.backgroundBlur({ segmenter: { segment: () => person } });
      await window.caller.room.self.setCamera(true, { processor });
    }),
  );
  const processed = await ada.page.evaluate(() => {
    const { camera } = window.caller.room.self;
    return [
      camera?.processor?.name,
      camera?.deviceId,
      camera?.mediaStreamTrack.getSettings().deviceId === camera?.deviceId,
    ];
  });
  assert.deepEqual(processed, ['background-blur', camera, false]);
  await withoutPublication(() => choose(ada, 'camera', camera ?? ''));
  await ada.setCamera(false);
  await ada.setCamera(true);
  await bob.watches('ada');
  await withoutPublication(() => ada.page.evaluate(() => window.caller.room.self.camera?.setProcessor(null)));
});
