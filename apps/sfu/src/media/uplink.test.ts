import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Extensions } from '@parley/media-description';
import { rtpPacket } from '../../testkit/packets.ts';
import { Publication } from './publication.ts';
import { toAbsSendTime } from './rtp.ts';
import { Uplink } from './uplink.ts';
import { UPLINK_BPS_MAX } from './uplink-estimator.ts';

function publicationOf(kind: 'AUDIO' | 'VIDEO', mid: string, extensionIds: Extensions): Publication {
  return new Publication({
    id: `trk_${mid}`,
    request: { cid: mid, kind, source: kind === 'AUDIO' ? 'MICROPHONE' : 'CAMERA' },
    encoding: { codec: kind === 'AUDIO' ? { name: 'opus', pt: 96 } : { name: 'VP8', pt: 97 }, red: undefined },
    mid,
    rids: [],
    extensionIds,
    publishedAt: 0,
    events: { keyFrameNeeded() {}, started() {}, audioLevel() {}, queued() {} },
  });
}

test('[MED-51] one id for two extensions, on two lines, as aiortc offers it, is read by the line it came on', () => {
  const audio: Extensions = { mid: 1, audioLevel: 2 };
  const video: Extensions = { mid: 1, absSendTime: 2 };
  const byMid = new Map([
    ['0', publicationOf('AUDIO', '0', audio)],
    ['1', publicationOf('VIDEO', '1', video)],
  ]);
  let now = 0;
  const uplink = new Uplink({
    clock: { now: () => now, wall: () => 0 },
    publicationOf: (mid) => byMid.get(mid ?? ''),
    rtxSsrcOf: () => undefined,
    repairedSsrcOf: () => undefined,
  });
  uplink.readExtensionIds({
    media: [
      { mid: '0', kind: 'audio', direction: 'sendonly', extensions: audio },
      { mid: '1', kind: 'video', direction: 'sendonly', extensions: video },
    ],
  });

  const midOf = (text: string): [number, number[]] => [1, [...Buffer.from(text)]];
  for (let sequence = 0; sequence < 1000; sequence += 1) {
    now = 10_000 + sequence * 10;
    const sentAt = toAbsSendTime(now - 5);
    const time: [number, number[]] = [2, [(sentAt >> 16) & 0xff, (sentAt >> 8) & 0xff, sentAt & 0xff]];
    uplink.onPacket(rtpPacket({ sequence, ssrc: 2, payloadType: 97, extensions: [midOf('1'), time] }));
    // The level is one byte, the last of the packet, and changes.
    const level: [number, number[]] = [2, [sequence % 128]];
    uplink.onPacket(rtpPacket({ sequence, ssrc: 1, extensions: [midOf('0'), [3, [0]], level] }));
  }
  assert.equal(uplink.availableBps, UPLINK_BPS_MAX);
});
