/**
 * The clients of the forwarding benchmark, in a process of their own: one publisher (or several) and N subscribers, real DTLS-SRTP
 * peers on the library's own API. Driven over the process channel by `sfu-forwarding.ts`.
 */
import type { Description } from '@parley/media-description';
import { RtpPeer, Vp8Source } from '../apps/sfu/testkit/rtp-peer.ts';

export type PeerRequest =
  | { kind: 'offer' }
  | { kind: 'answered'; description: Description }
  | { kind: 'subscribe'; description: Description }
  | { kind: 'send'; packetsPerSecond: number; bytes: number }
  | { kind: 'stop' }
  /** Leaves as a closed tab does; `index` counts the peers in the order they were made. */
  | { kind: 'leave'; index: number }
  | { kind: 'count' }
  /** Packets that the publisher sent, and that all subscribers got together; how many of them never got any. */
  | { kind: 'totals' };

const SSRC = 12345;
const peers: RtpPeer[] = [];
/** The last one is the one that is being set up. */
const publishers: RtpPeer[] = [];
let source: Vp8Source | undefined;
let sent = 0;

function newPeer(name: string): RtpPeer {
  const peer = new RtpPeer(name);
  peers.push(peer);
  return peer;
}

function send(packetsPerSecond: number, bytes: number): void {
  // Started again it goes on where it was stopped.
  source ??= new Vp8Source({ ssrc: SSRC, bytes, packetsPerSecond });
  source.start((packet) => {
    for (const publisher of publishers) if (publisher.send(packet)) sent += 1;
  }, packetsPerSecond);
}

function offer(): Description {
  const publisher = newPeer(`publisher-${publishers.length}`);
  publishers.push(publisher);
  return publisher.offer('bench', SSRC);
}

process.on('message', (request: PeerRequest) => {
  let answer: unknown = null;
  if (request.kind === 'offer') answer = offer();
  else if (request.kind === 'answered') publishers.at(-1)?.accept(request.description);
  else if (request.kind === 'subscribe') answer = newPeer(`subscriber-${peers.length}`).answer(request.description);
  else if (request.kind === 'send') send(request.packetsPerSecond, request.bytes);
  else if (request.kind === 'stop') source?.stop();
  else if (request.kind === 'leave') peers[request.index]?.close();
  else {
    const received = peers.reduce((sum, peer) => sum + peer.received, 0);
    const silent = peers.filter((peer) => peer.received === 0).length - publishers.length;
    answer = request.kind === 'totals' ? { sent, received, silent } : received;
  }
  process.send?.({ answer });
});
process.on('disconnect', () => process.exit(0));
