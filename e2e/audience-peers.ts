/**
 * A host and viewers of one live stream without a browser, in a process of their own: each speaks the signaling protocol
 * and has a DTLS-SRTP peer. Driven over the process channel by `audience.ts`.
 */
import { JoinRefused, joinRoom, type SignalClient } from '../apps/server/testkit/clients/signal-client.ts';
import { RtpPeer } from '../apps/sfu/testkit/rtp-peer.ts';
import { answerOffers, beat, sendVideo } from './rtp-caller.ts';

export type AudienceRequest =
  | { kind: 'publish'; url: string; token: string; packetsPerSecond: number; bytes: number }
  | { kind: 'watch'; url: string; tokens: string[] }
  /** Packets of media that each viewer has so far. */
  | { kind: 'counts' }
  /** How each viewer's stay ended; null for one that goes on. */
  | { kind: 'ends' };

/** Joins under way at once: a crowd arrives over seconds. */
const AT_ONCE = 8;
const viewers: { client: SignalClient; peer: RtpPeer }[] = [];

async function publish({ url, token, packetsPerSecond, bytes }: AudienceRequest & { kind: 'publish' }): Promise<void> {
  const client = await joinRoom(url, token);
  const peer = new RtpPeer('host');
  await sendVideo(client, peer, { packetsPerSecond, bytes });
  beat(client);
}

/** Gives the code of the refusal, or null for who got in. */
async function watch(url: string, token: string): Promise<string | null> {
  try {
    const client = await joinRoom(url, token);
    const peer = new RtpPeer('viewer');
    viewers.push({ client, peer });
    answerOffers(client, peer);
    beat(client);
    return null;
  } catch (error) {
    if (!(error instanceof JoinRefused)) throw error;
    return String(error.frame['svcCode'] ?? error.frame.type);
  }
}

async function watchAll(url: string, tokens: readonly string[]): Promise<(string | null)[]> {
  const outcomes: (string | null)[] = [];
  let next = 0;
  const take = async (): Promise<void> => {
    for (let index = next++; index < tokens.length; index = next++)
      outcomes[index] = await watch(url, tokens[index] ?? '');
  };
  await Promise.all(Array.from({ length: AT_ONCE }, take));
  return outcomes;
}

async function answerTo(request: AudienceRequest): Promise<unknown> {
  switch (request.kind) {
    case 'publish':
      return publish(request);
    case 'watch':
      return watchAll(request.url, request.tokens);
    case 'counts':
      return viewers.map(({ peer }) => peer.received);
    case 'ends':
      return viewers.map(({ client }) => client.closed?.reason ?? null);
  }
}

process.on('message', (request: AudienceRequest) => {
  answerTo(request).then(
    (answer) => process.send?.({ answer: answer ?? null }),
    (error) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
