import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeMedia } from '../../testkit/fake-devices.ts';
import { backgroundBlur, canBlurNatively } from './index.ts';

/** A camera whose driver blurs; `asked` has the constraints it was given. */
function camera(backgroundBlur?: boolean[]) {
  const asked: object[] = [];
  const media = Object.assign(fakeMedia('video', 'cam-1'), {
    getCapabilities: () => ({ backgroundBlur }),
    getConstraints: () => ({ width: { ideal: 1280 } }),
    applyConstraints: async (constraints: object) => void asked.push(constraints),
  });
  return { media: media as MediaStreamTrack, asked };
}

test('[SDK-68] a camera that blurs by itself does it, at the size it has, and stops again', async () => {
  const { media, asked } = camera([false, true]);
  assert.equal(canBlurNatively(media), true);
  const blur = backgroundBlur();
  assert.equal(await blur.start(media), media);
  blur.stop();
  blur.stop();
  assert.deepEqual(asked, [
    { width: { ideal: 1280 }, backgroundBlur: true },
    { width: { ideal: 1280 }, backgroundBlur: false },
  ]);
});

test('[SDK-68] a blur that another one has replaced does not turn that one off', async () => {
  const { media, asked } = camera([false, true]);
  const isOn = () => asked.map((constraints) => 'backgroundBlur' in constraints && constraints.backgroundBlur);
  const [first, second] = [backgroundBlur(), backgroundBlur()];
  await first.start(media);
  await second.start(media);
  first.stop();
  assert.deepEqual(isOn(), [true, true]);
  second.stop();
  assert.deepEqual(isOn(), [true, true, false]);
});

test('[SDK-68] without such a camera and without a segmenter it is refused, with a sentence for the user', async () => {
  for (const capability of [undefined, [false]]) {
    const { media, asked } = camera(capability);
    await assert.rejects(backgroundBlur().start(media), { kind: 'media', code: 'blur_not_supported' });
    assert.deepEqual(asked, []);
  }
});
