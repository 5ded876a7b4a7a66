/**
 * The ceiling of the forwarding benchmark: the same library, in a process that writes another ssrc into each packet and
 * sends it on. No layers, no repeats, no feedback, no rooms. Driven over the process channel by `sfu-forwarding.ts`.
 */
import type { Description } from '@parley/media-description';
import { RtpPeer } from '../apps/sfu/testkit/rtp-peer.ts';

export type BareOrder =
  | { kind: 'publish'; udpPort: number; offer: Description }
  | { kind: 'subscribe'; udpPort: number }
  | { kind: 'answered'; answer: Description };

const subscribers: RtpPeer[] = [];
const ssrcOf = (index: number): number => 1_000 + index;

function forward(packet: Buffer): void {
  for (const [index, subscriber] of subscribers.entries()) {
    packet.writeUInt32BE(ssrcOf(index), 8);
    subscriber.send(packet);
  }
}

function publish(udpPort: number, offer: Description): Description {
  const publisher = new RtpPeer('publisher', udpPort);
  publisher.onMedia = forward;
  return { ...publisher.answer(offer), media: offer.media };
}

function subscribe(udpPort: number): Description {
  const index = subscribers.length;
  const subscriber = new RtpPeer(`subscriber-${index}`, udpPort);
  subscribers.push(subscriber);
  return subscriber.offer('bench', ssrcOf(index));
}

process.on('message', (order: BareOrder) => {
  let result: Description | null = null;
  if (order.kind === 'publish') result = publish(order.udpPort, order.offer);
  else if (order.kind === 'subscribe') result = subscribe(order.udpPort);
  else subscribers.at(-1)?.accept(order.answer);
  process.send?.({ result });
});
process.on('disconnect', () => process.exit(0));
