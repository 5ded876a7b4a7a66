import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodingsFor } from './encodings.ts';

test('[MED-84] a camera held upright is sent like one held across', () => {
  const encodings = (width: number, height: number) =>
    encodingsFor('CAMERA', {
      kind: 'video',
      getSettings: () => ({ width, height }),
      // The rest of a track is not used here.
    } as unknown as MediaStreamTrack);
  assert.deepEqual(encodings(720, 1280), encodings(1280, 720));
  assert.deepEqual(encodings(360, 640), encodings(640, 360));
  assert.deepEqual(encodings(240, 320), encodings(320, 240));
  assert.equal(encodings(720, 1280).length, 3);
});
