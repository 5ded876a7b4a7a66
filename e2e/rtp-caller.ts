/** What somebody in a room does who has no browser: signaling by hand, and a DTLS-SRTP peer for the media. */
import type { Description } from '@parley/media-description';
import type { SignalClient } from '../apps/server/testkit/clients/signal-client.ts';
import { type RtpPeer, Vp8Source } from '../apps/sfu/testkit/rtp-peer.ts';

const ssrc = 4711;
const beatMs = 5_000;

/** Publishes one video and sends it until it is stopped. */
export async function sendVideo(
  client: SignalClient,
  peer: RtpPeer,
  { packetsPerSecond, bytes }: { packetsPerSecond: number; bytes: number },
): Promise<Vp8Source> {
  const tracks = [{ cid: 'live', kind: 'VIDEO', source: 'CAMERA' }];
  const answer = await client.ask({ type: 'publish', tracks, description: peer.offer('live', ssrc) });
  if (answer.type !== 'response') throw new Error(JSON.stringify(answer));
  peer.accept((answer['data'] as { description: Description }).description);
  const video = new Vp8Source({ ssrc, packetsPerSecond, bytes });
  video.start((packet) => peer.send(packet));
  return video;
}

/** Takes whatever the room offers. The first offer makes the connection; the later ones only say what is in it. */
export function answerOffers(client: SignalClient, peer: RtpPeer): void {
  let isFirst = true;
  const answer = (frame: { [field: string]: unknown }): void => {
    const description = isFirst ? peer.answer(frame['description'] as Description) : { media: [] };
    isFirst = false;
    client.send({ type: 'sub.answer', revision: frame['revision'], description });
  };
  for (const frame of client.frames) if (frame.type === 'sub.offer') answer(frame);
  client.ws.on('message', (data) => {
    const frame = JSON.parse(String(data)) as { type: string };
    if (frame.type === 'sub.offer') answer(frame);
  });
}

/** Keeps the socket from being taken for dead, as long as it is open. */
export function beat({ ws, send }: SignalClient): void {
  const timer = setInterval(() => send({ type: 'ping', t: 0 }), beatMs);
  ws.on('close', () => clearInterval(timer));
}
