import type { Description } from '@parley/media-description';
import { RtpPeer, Vp8Source } from '@parley/sfu/rtp-peer';
import type { Figures } from './figures.ts';
import { join } from './signaling.ts';

/** Marks a packet of ours; behind it the time it was sent and its number. */
const mark = 0x7061726c;
const tailBytes = 16;

interface MediaOptions {
  packetsPerSecond: number;
  bytes: number;
}

export interface Publisher {
  /** Packets sent so far. */
  sent(): number;
  /** Sends no more. */
  pause(): void;
  close(): void;
}

let nextSsrc = 1000;

/** Publishes one video; every packet says when it left. */
export async function publish(
  url: string,
  token: string,
  { packetsPerSecond, bytes }: MediaOptions,
): Promise<Publisher> {
  const signaling = await join(url, token);
  const peer = new RtpPeer('publisher');
  const ssrc = ++nextSsrc;
  const tracks = [{ cid: 'load', kind: 'VIDEO', source: 'CAMERA' }];
  const answer = await signaling.request('publish', { tracks, description: peer.offer('load', ssrc) });
  peer.accept((answer as { description: Description }).description);
  const source = new Vp8Source({ ssrc, packetsPerSecond, bytes });
  let sent = 0;
  source.start((packet) => {
    const at = packet.length - tailBytes;
    packet.writeUInt32BE(mark, at);
    packet.writeDoubleBE(performance.now(), at + 4);
    packet.writeUInt32BE(sent, at + 12);
    if (peer.isConnected && peer.send(packet)) sent += 1;
  });
  return {
    sent: () => sent,
    pause: () => source.stop(),
    close() {
      source.stop();
      signaling.close();
      peer.close();
    },
  };
}

export interface Subscriber {
  /** Whether anything has come yet. */
  isServed(): boolean;
  close(): void;
}

/** Takes everything in the room and times it: both ends are on this machine, so on one clock. */
export async function subscribe(url: string, token: string, latency: Figures): Promise<Subscriber> {
  const peer = new RtpPeer('subscriber');
  let isFirst = true;
  peer.onMedia = (packet) => {
    const at = packet.length - tailBytes;
    if (at < 12 || packet.readUInt32BE(at) !== mark) return;
    latency.add(performance.now() - packet.readDoubleBE(at + 4));
  };
  const signaling = await join(url, token, {
    answer({ description }) {
      const answer = isFirst ? peer.answer(description) : { media: [] };
      isFirst = false;
      return answer;
    },
  });
  return {
    isServed: () => peer.received > 0,
    close() {
      signaling.close();
      peer.close();
    },
  };
}
