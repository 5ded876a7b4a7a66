import { joinRoom, type SignalClient } from '../../../apps/server/testkit/clients/signal-client.ts';
import { RtpPeer } from '../../../apps/sfu/testkit/rtp-peer.ts';
import { answerOffers, beat, sendVideo } from '../../../e2e/rtp-caller.ts';

/** Two people in a room: one sends video, the other receives it. Neither comes back when it is thrown out. */
export interface Call {
  /** The media node it is on. */
  readonly node: string;
  readonly clients: readonly SignalClient[];
  readonly roomId: string;
  packets(): number;
  /** Another participant joins the room. */
  enter(url: string): Promise<SignalClient>;
  end(): void;
}

const packetsPerSecond = 40;

export async function startCall(
  urls: readonly [string, string],
  tokens: Record<'sender' | 'receiver' | 'visitor', string>,
): Promise<Call> {
  const sender = await joinRoom(urls[0], tokens.sender);
  const [source, sink] = [new RtpPeer('sender'), new RtpPeer('receiver')];
  const video = await sendVideo(sender, source, { packetsPerSecond, bytes: 200 });

  const receiver = await joinRoom(urls[1], tokens.receiver);
  answerOffers(receiver, sink);
  for (const client of [sender, receiver]) beat(client);
  return {
    node: sender.joined.room.serverName ?? '',
    clients: [sender, receiver],
    roomId: sender.joined.room.id,
    enter: (url) => joinRoom(url, tokens.visitor),
    packets: () => sink.received,
    end() {
      video.stop();
      for (const client of [sender, receiver]) client.ws.terminate();
      for (const peer of [source, sink]) peer.close();
    },
  };
}
