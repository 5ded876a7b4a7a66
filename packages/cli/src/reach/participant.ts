import { setTimeout as pause } from 'node:timers/promises';
import type { FrameData, IceServer, SignalingServerFrames } from '@parley/contract';
import { endPeers, RtpPeer } from '@parley/sfu/rtp-peer';
import { join } from '../loadtest/signaling.ts';
import { endpoint } from './address.ts';

type Joined = FrameData<SignalingServerFrames['joined']>;

/** What the room gave, and whether media got to its node without a relay. */
export interface Visit {
  iceServers: readonly IceServer[];
  /** UDP addresses of the node's media, `203.0.113.7:4443`. */
  mediaAddresses: readonly string[];
  isConnected: boolean;
}

const joinedMsMax = 10_000;
const connectMsMax = 10_000;
const lookMs = 50;

/** Joins the room of the token with a peer that knows no relay, and leaves again after `look`. */
export async function visit<T>(url: string, token: string, look: (visit: Visit) => Promise<T>): Promise<T> {
  const joined = Promise.withResolvers<Joined>();
  const peer = new RtpPeer('doctor');
  let mediaAddresses: string[] = [];
  const signaling = await join(url, token, {
    answer({ description }) {
      // Only the first offer is whole and names them.
      if (mediaAddresses.length > 0) return { media: [] };
      mediaAddresses = addressesIn(description.candidates ?? []);
      return peer.answer(description);
    },
    hear: (frame) => frame.type === 'joined' && joined.resolve(frame),
  });
  const timer = setTimeout(() => joined.reject(new Error('no answer to the join')), joinedMsMax);
  try {
    const { iceServers } = await joined.promise;
    return await look({ iceServers, isConnected: await connects(peer), mediaAddresses });
  } finally {
    clearTimeout(timer);
    signaling.close();
    peer.close();
    endPeers();
  }
}

/** Of `udp 2130706431 192.0.2.7 4443 host`. */
const addressesIn = (candidates: readonly string[]): string[] =>
  candidates.map((candidate) => {
    const [, , host = '', port = ''] = candidate.split(' ');
    return endpoint(host, port);
  });

async function connects(peer: RtpPeer): Promise<boolean> {
  const until = performance.now() + connectMsMax;
  while (!peer.isConnected && performance.now() < until) await pause(lookMs);
  return peer.isConnected;
}
