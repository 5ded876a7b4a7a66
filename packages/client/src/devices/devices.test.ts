import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { type FakeDevices, fakeDevices, fakeStorage } from '../../testkit/fake-devices.ts';
import { settle } from '../../testkit/fake-world.ts';
import { createDevices, type Devices } from './devices.ts';

let browser: FakeDevices;
let devices: Devices;
const state = () => devices.state.getSnapshot();
const labels = () => [...state().microphones, ...state().cameras, ...state().speakers].map(({ label }) => label);

beforeEach(() => {
  browser = fakeDevices();
});
afterEach(() => {
  devices.close();
  browser.remove();
});

async function open(storage: Parameters<typeof createDevices>[0] = { storage: null }): Promise<void> {
  devices = createDevices(storage);
  await settle();
}

test('[SDK-61] devices are listed with a number each until permission is given, then with their labels', async () => {
  browser.isAllowed = false;
  await open();
  assert.deepEqual(labels(), ['Microphone 1', 'Microphone 2', 'Camera 1', 'Camera 2', 'Speaker 1']);
  assert.equal(state().hasLabels, false);
  await devices.request();
  assert.deepEqual(labels(), ['Built-in', 'Headset', 'Webcam', 'Desk', 'Speakers']);
  assert.equal(state().hasLabels, true);
  assert.deepEqual(browser.asked, [{ audio: true, video: true }], 'one question for both');
  assert.deepEqual(
    browser.opened.map(({ readyState }) => readyState),
    ['ended', 'ended'],
    'and no light stays on',
  );
});

test('[SDK-61] a device that comes or goes changes the list; one that is as before does not', async () => {
  await open();
  const before = state();
  browser.change();
  await settle();
  assert.equal(state(), before);
  browser.list = browser.list.filter(({ deviceId }) => deviceId !== 'cam-2');
  browser.change();
  await settle();
  assert.deepEqual(labels(), ['Built-in', 'Headset', 'Webcam', 'Speakers']);
  devices.close();
  assert.equal(browser.listeners, 0);
});

test('[SDK-61] who has a microphone alone is asked for it alone', async () => {
  browser.list = browser.list.filter(({ kind }) => kind !== 'videoinput');
  await open();
  await devices.request();
  assert.deepEqual(browser.asked, [{ audio: true, video: false }]);
  browser.list = [];
  await assert.rejects(devices.request(), {
    code: 'device_not_found',
    message: 'No microphone or camera was found. Connect one, then try again.',
  });
});

test('[SDK-62] a choice is remembered, and counts while its device is connected', async () => {
  const storage = fakeStorage();
  await open({ storage });
  assert.deepEqual(state().chosen, { microphone: null, camera: null, speaker: null });
  await devices.choose('camera', 'cam-2');
  await devices.choose('speaker', 'out-1');
  assert.deepEqual(state().chosen, { microphone: null, camera: 'cam-2', speaker: 'out-1' });
  devices.close();

  const connected = browser.list;
  browser.list = connected.filter(({ deviceId }) => deviceId !== 'cam-2');
  await open({ storage });
  assert.equal(state().chosen.camera, null);
  browser.list = connected;
  browser.change();
  await settle();
  assert.equal(state().chosen.camera, 'cam-2');
  devices.close();

  storage.setItem('parley.devices', '{"camera":7,"speaker":');
  await open({ storage });
  assert.deepEqual(state().chosen, { microphone: null, camera: null, speaker: null });
});

test('[SDK-62] a choice that cannot be used changes nothing', async () => {
  await open();
  await devices.choose('microphone', 'mic-1');
  const used: string[] = [];
  const stop = devices.onChoose(async (kind, deviceId) => {
    used.push(`${kind} ${deviceId}`);
    if (deviceId === 'mic-2') throw new Error('in use');
  });
  await devices.choose('camera', 'cam-1');
  await assert.rejects(devices.choose('microphone', 'mic-2'));
  assert.deepEqual(used, ['camera cam-1', 'microphone mic-2']);
  assert.deepEqual([state().chosen.microphone, state().chosen.camera], ['mic-1', 'cam-1']);
  stop();
  await devices.choose('microphone', 'mic-2');
  assert.equal(state().chosen.microphone, 'mic-2');
});
