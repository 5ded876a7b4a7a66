/**
 * The clients of the forwarding benchmark, in a process of their own: one publisher and N subscribers, real DTLS-SRTP
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
  | { kind: 'count' };

const SSRC = 12345;
const peers: RtpPeer[] = [];
let publisher: RtpPeer | undefined;
let source: Vp8Source | undefined;

function newPeer(name: string): RtpPeer {
  const peer = new RtpPeer(name);
  peers.push(peer);
  return peer;
}

function send(packetsPerSecond: number, bytes: number): void {
  source = new Vp8Source({ ssrc: SSRC, bytes, packetsPerSecond });
  source.start((packet) => publisher?.send(packet));
}

function offer(): Description {
  publisher = newPeer('publisher');
  return publisher.offer('bench', SSRC);
}

process.on('message', (request: PeerRequest) => {
  let answer: unknown = null;
  if (request.kind === 'offer') answer = offer();
  else if (request.kind === 'answered') publisher?.accept(request.description);
  else if (request.kind === 'subscribe') answer = newPeer(`subscriber-${peers.length}`).answer(request.description);
  else if (request.kind === 'send') send(request.packetsPerSecond, request.bytes);
  else if (request.kind === 'stop') source?.stop();
  else if (request.kind === 'leave') peers[request.index]?.close();
  else answer = peers.reduce((sum, { received }) => sum + received, 0);
  process.send?.({ answer });
});
process.on('disconnect', () => process.exit(0));
