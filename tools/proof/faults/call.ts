import type { Description } from '@parley/media-description';
import { joinRoom, type SignalClient } from '../../../apps/server/testkit/signal-client.ts';
import { RtpPeer, Vp8Source } from '../../../apps/sfu/testkit/rtp-peer.ts';

/** Two people in a room: one sends video, the other receives it. Neither comes back when it is thrown out. */
export interface Call {
  /** The media node it is on. */
  readonly node: string;
  readonly clients: readonly SignalClient[];
  readonly roomId: string;
  packets(): number;
  /** Somebody else comes into the room. */
  enter(url: string): Promise<SignalClient>;
  end(): void;
}

const ssrc = 4711;
const packetsPerSecond = 40;

export async function startCall(
  urls: readonly [string, string],
  tokens: Record<'sender' | 'receiver' | 'visitor', string>,
): Promise<Call> {
  const sender = await joinRoom(urls[0], tokens.sender);
  const [source, sink] = [new RtpPeer('sender'), new RtpPeer('receiver')];
  const tracks = [{ cid: 'live', kind: 'VIDEO', source: 'CAMERA' }];
  const answer = await sender.ask({ type: 'publish', tracks, description: source.offer('live', ssrc) });
  if (answer.type !== 'response') throw new Error(JSON.stringify(answer));
  source.accept((answer['data'] as { description: Description }).description);
  const video = new Vp8Source({ ssrc, packetsPerSecond, bytes: 200 });
  video.start((packet) => source.send(packet));

  const receiver = await joinRoom(urls[1], tokens.receiver);
  answerOffers(receiver, sink);
  const beats = [sender, receiver].map((client) => setInterval(() => client.send({ type: 'ping', t: 0 }), 5_000));
  return {
    node: sender.joined.room.serverName ?? '',
    clients: [sender, receiver],
    roomId: sender.joined.room.id,
    enter: (url) => joinRoom(url, tokens.visitor),
    packets: () => sink.received,
    end() {
      video.stop();
      for (const beat of beats) clearInterval(beat);
      for (const client of [sender, receiver]) client.ws.terminate();
      for (const peer of [source, sink]) peer.close();
    },
  };
}

/** The first offer makes the connection; the later ones only say what is in it. */
function answerOffers(client: SignalClient, peer: RtpPeer): void {
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
