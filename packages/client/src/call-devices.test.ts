import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { type FakeDevices, fakeDevices } from '../testkit/fake-devices.ts';
import { settle } from '../testkit/fake-world.ts';
import { type CallDevices, createCallDevices } from './call-devices.ts';
import { createDevices, type Devices } from './devices/devices.ts';
import type { LocalParticipant } from './media/local-participant.ts';

let browser: FakeDevices;
let devices: Devices;
let call: CallDevices;
let used: string[] = [];

/** What a call uses of its own participant: a camera of a device, and a microphone of the application's own. */
const self = {
  camera: { canSetDevice: true, deviceId: 'cam-1', setDevice: async (id: string) => void used.push(id) },
  microphone: { canSetDevice: false, deviceId: 'mic-1', setDevice: () => assert.fail() },
} as unknown as LocalParticipant;

beforeEach(async () => {
  browser = fakeDevices();
  used = [];
  devices = createDevices({ storage: null });
  call = createCallDevices(devices, () => self);
  await settle();
});
afterEach(() => {
  devices.close();
  browser.remove();
});

/** An element with what a speaker is chosen by. */
function element(): HTMLMediaElement & { sinks: string[] } {
  const sinks: string[] = [];
  const setSinkId = async (id: string) => {
    if (id === 'broken') throw new DOMException('', 'AbortError');
    sinks.push(id);
  };
  return { sinks, setSinkId } as unknown as HTMLMediaElement & { sinks: string[] };
}

test('[SDK-62] a choice switches the devices of a call at once, and of no call that is over', async () => {
  call.watch(true);
  call.watch(true);
  await devices.choose('camera', 'cam-2');
  await devices.choose('camera', 'cam-1');
  await devices.choose('microphone', 'mic-2');
  assert.deepEqual(used, ['cam-2'], 'each once; the one in use and media of the application stay');
  assert.deepEqual([call.chosen('microphone'), call.chosen('speaker')], ['mic-2', null]);
  call.watch(false);
  await devices.choose('camera', 'cam-2');
  assert.deepEqual(used, ['cam-2']);
});

test('[SDK-65] what is played goes to the chosen speaker, also what comes later; an unplugged one gives way', async () => {
  const [early, late, left] = [element(), element(), element()];
  call.watch(true);
  call.attached(early);
  call.attached(left);
  call.detached(left);
  await devices.choose('speaker', 'out-1');
  call.attached(late);
  await settle();
  assert.deepEqual([early.sinks.at(-1), late.sinks.at(-1), left.sinks], ['out-1', 'out-1', []]);
  const connected = browser.list;
  browser.list = connected.filter(({ kind }) => kind !== 'audiooutput');
  browser.list.push({ kind: 'audiooutput', deviceId: 'out-2', label: 'HDMI', groupId: 'd' });
  browser.change();
  await settle();
  assert.deepEqual([early.sinks.at(-1), late.sinks.at(-1)], ['', ''], 'the default of the browser');
  browser.list = connected;
  browser.change();
  await settle();
  assert.equal(early.sinks.at(-1), 'out-1');
});

test('[SDK-65] a speaker that cannot be used is an error for the user, and the choice stays', async () => {
  call.watch(true);
  call.attached(element());
  // Older browsers have no such method.
  call.attached({} as HTMLMediaElement);
  await devices.choose('speaker', 'out-1');
  await assert.rejects(devices.choose('speaker', 'broken'), {
    code: 'device_failed',
    message: 'The speaker did not start. Choose another one.',
  });
  assert.equal(devices.state.getSnapshot().chosen.speaker, 'out-1');
});
