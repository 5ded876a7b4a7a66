import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { type FakeDevices, fakeDevices } from '../../testkit/fake-devices.ts';
import type { MediaError } from '../errors.ts';
import { captureCamera, captureMicrophone, captureScreen } from './capture.ts';

let browser: FakeDevices;
beforeEach(() => {
  browser = fakeDevices();
});
afterEach(() => browser.remove());

const refused = (capture: () => Promise<unknown>, name: string, message = ''): Promise<MediaError> => {
  browser.failure = new DOMException(message, name);
  return capture().then(
    () => assert.fail('it was captured'),
    (error) => error,
  );
};

test('[SDK-63] why a device cannot be opened has a code, and a sentence for the user', async () => {
  const cases: [capture: () => Promise<unknown>, name: string, message: string, permission: string, code: string][] = [
    [captureCamera, 'NotAllowedError', 'Permission denied', 'denied', 'permission_denied'],
    [captureCamera, 'NotAllowedError', 'Permission denied by system', 'granted', 'permission_denied'],
    [captureMicrophone, 'NotAllowedError', 'Permission dismissed', 'prompt', 'permission_dismissed'],
    // Firefox and Safari say nothing of it.
    [captureMicrophone, 'NotAllowedError', 'The request is not allowed', 'prompt', 'permission_dismissed'],
    [captureMicrophone, 'NotAllowedError', 'The request is not allowed', 'denied', 'permission_denied'],
    [captureScreen, 'NotAllowedError', 'Permission denied', 'prompt', 'permission_dismissed'],
    [captureCamera, 'NotFoundError', 'Requested device not found', 'granted', 'device_not_found'],
    [captureCamera, 'OverconstrainedError', '', 'granted', 'device_not_found'],
    [captureCamera, 'NotReadableError', 'Could not start video source', 'granted', 'device_in_use'],
    [captureCamera, 'AbortError', '', 'granted', 'device_failed'],
  ];
  const sentences = new Set<string>();
  for (const [capture, name, message, permission, code] of cases) {
    browser.permission = permission as PermissionState;
    const error = await refused(capture, name, message);
    assert.deepEqual([error.kind, error.code, error.cause === browser.failure], ['media', code, true], name);
    assert.doesNotMatch(error.message, /getUserMedia|deviceId|Error|\(|undefined/);
    assert.match(error.message, /try again|choose|Allow it/i, 'it says what to do');
    sentences.add(error.message.replace(/camera|microphone/g, 'device'));
  }
  assert.equal(sentences.size, 8, 'each cause has its own');
});

test('[SDK-63] a page without https says so', async () => {
  browser.remove();
  await assert.rejects(captureCamera(), {
    code: 'insecure_context',
    message: 'The browser allows the camera on secure pages alone. Open this page with https://.',
  });
});

test('[SDK-64] echo, noise and gain are on unless they are turned off; a preferred device may be missing', async () => {
  await captureMicrophone();
  await captureMicrophone({ noiseSuppression: false, echoCancellation: false, deviceId: 'mic-2' });
  assert.deepEqual(browser.asked, [
    { audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true } },
    {
      audio: {
        echoCancellation: false,
        noiseSuppression: false,
        autoGainControl: true,
        deviceId: { exact: 'mic-2' },
      },
    },
  ]);
  const preferred = await captureCamera({ preferredDeviceId: 'cam-2' });
  const missing = await captureCamera({ preferredDeviceId: 'cam-9' });
  assert.deepEqual(
    [preferred, missing].map((track) => track.getSettings().deviceId),
    ['cam-2', 'cam-1'],
  );
  await assert.rejects(captureCamera({ deviceId: 'cam-9' }), { code: 'device_not_found' });
});

test('[SDK-74] music is not processed, unless that is asked for, and is captured in stereo', async () => {
  await captureMicrophone({ music: true, echoCancellation: true });
  assert.deepEqual(browser.asked, [
    { audio: { echoCancellation: true, noiseSuppression: false, autoGainControl: false, channelCount: 2 } },
  ]);
});

test('[SDK-111] a screen of text is captured at five frames a second, unless another rate is asked for', async () => {
  await captureScreen({ contentHint: 'text' });
  await captureScreen({ contentHint: 'text', frameRate: 10 });
  assert.deepEqual(
    browser.asked.map(({ video }) => video),
    [{ frameRate: 5 }, { frameRate: 10 }],
  );
});

test('[SDK-75] a screen is sharp at 15 frames, in motion at 30; its sound is the system’s, as it is', async () => {
  const unprocessed = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  const [sharp] = await captureScreen();
  const [moving] = await captureScreen({ contentHint: 'motion', audio: true });
  assert.deepEqual(browser.asked, [
    { video: { frameRate: 15 }, audio: false, systemAudio: 'include' },
    { video: { frameRate: 30 }, audio: unprocessed, systemAudio: 'include' },
  ]);
  assert.deepEqual([sharp?.contentHint, moving?.contentHint], ['detail', 'motion']);
});
