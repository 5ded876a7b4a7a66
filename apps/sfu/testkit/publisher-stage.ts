import assert from 'node:assert/strict';
import type { MediaTrackRequest } from '@parley/contract/media-control';
import type { Codec, MediaEntry } from '@parley/media-description';
import type { PeerTransport, PeerTransportListener } from '../src/media/peer-transport.ts';
import { Publisher } from '../src/media/publisher.ts';
import { readRtcp } from '../src/media/rtcp.ts';
import { newRtpView, readRtp } from '../src/media/rtp.ts';
import { Subscription } from '../src/media/subscription.ts';
import { type PacketInit, vp8Payload } from './packets.ts';
import { everything } from './permissions.ts';
import { local } from './room-stage.ts';

export const VP8: Codec = { name: 'VP8', pt: 96, rtx: 97 };
export const [MID, RID, REPAIRED_RID, NUMBER] = [1, 2, 3, 4] as const;
export const IDS = { mid: MID, rid: RID, repairedRid: REPAIRED_RID, transportCc: NUMBER };

export const camera = (mid: string, own: Partial<MediaEntry> = {}): MediaEntry => ({
  mid,
  kind: 'video',
  direction: 'sendonly',
  trackId: `cid-${mid}`,
  codecs: [VP8],
  extensions: IDS,
  ...own,
});

interface Got {
  sequence: number;
  bytes: number;
}

/** A publisher of cameras on a transport that is open at once, and of each camera who watches its top layer. */
export function stagePublisher(entries: MediaEntry[]) {
  let now = 1000;
  let listener: PeerTransportListener | undefined;
  let tracks = 0;
  const nacks: [ssrc: number, sequences: number[]][] = [];
  const keyFrames: number[] = [];
  const feedback: { base: number; arrived: boolean[] }[] = [];
  const lost: number[] = [];
  const send = (packet: Buffer): void => {
    readRtcp(packet, {
      nack: (ssrc, sequences) => nacks.push([ssrc, sequences]),
      keyFrameRequest: (ssrc) => keyFrames.push(ssrc),
      receptionReport: ({ packetsLost }) => lost.push(packetsLost),
      transportFeedback: ({ base, count, arrivals }) =>
        feedback.push({ base, arrived: [...arrivals.subarray(0, count)].map((at) => !Number.isNaN(at)) }),
    });
  };
  const publisher = new Publisher({
    clock: { now: () => now, wall: () => 0 },
    isPlain: false,
    newTrackId: () => `trk_${++tracks}`,
    newTransport(_, own) {
      listener = own;
      return { acceptOffer: () => local, send, close() {} } as unknown as PeerTransport;
    },
    candidates: () => [],
    permissions: () => everything,
    events: {
      state() {},
      published() {},
      backedUp() {},
      backupLost() {},
      unpublished() {},
      started() {},
      audioLevel() {},
      rebound() {},
    },
  });
  const requests = entries.map(
    ({ trackId = '' }): MediaTrackRequest => ({ cid: trackId, kind: 'VIDEO', source: 'UNKNOWN', name: trackId }),
  );
  const { description } = publisher.offer(requests, { ...local, media: entries });
  const view = newRtpView();
  const got = new Map<string, Got[]>();
  for (const publication of publisher.publications.values()) {
    const list: Got[] = [];
    got.set(publication.mid, list);
    const rtp = (packet: Buffer) => {
      assert.ok(readRtp(packet, view));
      list.push({ sequence: view.sequence, bytes: view.payloadEnd - view.payloadStart });
    };
    const ids = { ssrc: 10, rtxSsrc: 11, payloadType: 96, redPayloadType: undefined, rtxPayloadType: 97 };
    const subscription = new Subscription(publication, ids, { rtp, rtcp() {} }, () => 0);
    publication.subscribe(subscription);
    subscription.setTarget(publication.layers.length - 1);
  }
  return {
    publisher,
    answer: description,
    nacks,
    keyFrames,
    feedback,
    lost,
    give: (packet: Buffer) => listener?.packet(packet),
    /** Milliseconds in steps of the clock. */
    pass(ms: number) {
      for (const end = now + ms; now < end; ) {
        now += 20;
        publisher.tick(now);
      }
    },
    report: () => publisher.uplink.report(now),
    take: (mid = '0') => got.get(mid)?.splice(0) ?? [],
  };
}

/** One packet a picture. */
export const picture = (sequence: number, own: Partial<PacketInit> = {}): PacketInit => ({
  sequence,
  timestamp: sequence * 3000,
  ssrc: 100,
  marker: true,
  payload: vp8Payload(sequence, sequence & 0xff, sequence === 1),
  ...own,
});
export const mid = (name: string): [number, number[]] => [MID, [...Buffer.from(name)]];
export const rid = (name: string): [number, number[]] => [RID, [...Buffer.from(name)]];
export const repairs = (name: string): [number, number[]] => [REPAIRED_RID, [...Buffer.from(name)]];
export const rtx = (sequence: number, own: Partial<PacketInit> = {}) => ({
  sequence,
  ssrc: 200,
  payloadType: 97,
  ...own,
});
export const numbers = (got: readonly Got[]): number[] => got.map(({ sequence }) => sequence);
