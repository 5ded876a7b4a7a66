import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Devices } from './devices/devices.ts';
import { LiveStream } from './live-stream.ts';
import { createStore } from './store.ts';

test('[SDK-62] the room of a live stream follows the devices that it is given', async () => {
  let watchers = 0;
  // What a call uses of them.
  const devices = {
    state: createStore({ chosen: {} }),
    onChoose() {
      watchers += 1;
      return () => void watchers--;
    },
  } as unknown as Devices;
  const never = new Promise<never>(() => {});
  const stream = new LiveStream({ url: 'http://parley.test', credentials: () => never, devices });
  const joining = assert.rejects(stream.join());
  assert.equal(watchers, 1);
  await stream.leave();
  await joining;
  assert.equal(watchers, 0);
});
