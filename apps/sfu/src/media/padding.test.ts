import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paddingPacket, rtpPacket, vp8Payload } from '../../testkit/packets.ts';
import { camera, picture, rtx, stagePublisher, VP8 } from '../../testkit/publisher-stage.ts';

test('[MED-121] a path that is probed with padding costs no key frame, on a stream of its own or within the video', () => {
  for (const hasRtx of [true, false]) {
    const { give, pass, take, nacks, keyFrames } = stagePublisher([
      camera('0', { ssrcs: [100, 200], codecs: [hasRtx ? VP8 : { name: 'VP8', pt: 96 }] }),
    ]);
    pass(20);
    keyFrames.length = 0;
    let sequence = 0;
    let next = 1;
    let padded = 0;
    for (let frame = 1; frame <= 200; frame += 1) {
      const timestamp = frame * 3000;
      const payload = vp8Payload(frame, frame & 0xff, frame === 1);
      give(rtpPacket({ sequence: ++sequence, timestamp, ssrc: 100, marker: true, payload }));
      for (let probe = 0; probe < 6; probe += 1) {
        // Each third one is lost, but not the last: what is lost there could be of the next frame.
        const isLost = probe % 3 === 1;
        padded += 1;
        const own = hasRtx ? rtx(next++) : { sequence: ++sequence, ssrc: 100 };
        if (!isLost) give(paddingPacket({ ...own, timestamp }));
      }
      pass(40);
    }
    assert.ok(padded > 1000);
    assert.deepEqual(nacks, [], 'none is asked for, as nobody would repeat it');
    assert.deepEqual(keyFrames, []);
    assert.equal(take().filter(({ bytes }) => bytes > 0).length, 200);
  }
});

test('[MED-121] padding that came fills its number; what lies between it and a picture is asked for', () => {
  const { give, pass, nacks, keyFrames } = stagePublisher([
    camera('0', { ssrcs: [100], codecs: [{ name: 'VP8', pt: 96 }] }),
  ]);
  const padding = (sequence: number, timestamp: number) => give(paddingPacket({ sequence, timestamp, ssrc: 100 }));
  give(rtpPacket(picture(1)));
  give(rtpPacket(picture(5, { timestamp: 6000, marker: false })));
  padding(2, 3000);
  padding(4, 3000);
  assert.deepEqual(nacks, [[100, [2, 3, 4]]]);
  give(rtpPacket(picture(3, { timestamp: 3000 })));
  pass(400);
  assert.equal(nacks.length, 1);
  padding(7, 6000);
  assert.deepEqual(nacks.at(-1), [100, [6]], 'the picture was not over');
  padding(9, 9000);
  assert.deepEqual(nacks.at(-1), [100, [8]], 'nor is a picture between two paddings over');
  const before = keyFrames.length;
  give(rtpPacket(picture(6, { timestamp: 6000 })));
  give(rtpPacket(picture(8, { timestamp: 9000 })));
  pass(1000);
  assert.equal(keyFrames.length, before);
  give(rtpPacket(picture(10, { timestamp: 12_000 })));
  padding(12, 15_000);
  assert.deepEqual(nacks.at(-1), [100, [11]], 'nor padding of another picture');
});
