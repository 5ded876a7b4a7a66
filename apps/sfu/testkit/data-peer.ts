import type { DataFallback } from '@parley/contract/media-control';
import { decodeData } from '@parley/media-description';
import { mediaMs } from '../../server/testkit/kit/eventually.ts';
import { forgottenOnceClosed } from '../src/media/native-part.ts';
import type { ControlClient } from './control-client.ts';
import { newPeer, parametersOf, remoteSdp } from './native-peer.ts';
import { eventually } from './node.ts';
import { everything } from './permissions.ts';

export async function openDataRoom(
  control: ControlClient,
  room: string,
  members: readonly string[],
  dataFallback?: DataFallback,
): Promise<void> {
  await control.command('room.open', { room, ...(dataFallback && { dataFallback }) });
  for (const identity of members)
    await control.command('participant.add', {
      room,
      participant: `ps_${identity}`,
      identity,
      permissions: everything,
      autoSubscribe: true,
    });
}

interface DataPeerOptions {
  /** Leads it around a proxy. */
  past?: readonly [from: number, to: number];
  /** Answers an offer that is newer than this one. */
  after?: number;
}

/** A native peer with a reliable channel. */
export async function joinWithData(
  control: ControlClient,
  room: string,
  name: string,
  { past, after = 0 }: DataPeerOptions = {},
) {
  const participant = `ps_${name}`;
  const find = () =>
    control.events.find(
      ({ type, data }) =>
        type === 'sub.offer' && data.room === room && data.participant === participant && data.revision > after,
    );
  const offer = await eventually(find, 'no offer came');
  if (offer.type !== 'sub.offer') throw new Error('That is no offer.');
  const [from, to] = past ?? [0, 0];
  const candidates = offer.data.description.candidates?.map((one) => one.replace(` ${from} `, ` ${to} `)) ?? [];
  const description = { ...offer.data.description, candidates };
  const { connection, track } = newPeer(name);
  const channel = forgottenOnceClosed(connection.createDataChannel('reliable', { negotiated: true, id: 0 }));
  const messages: Uint8Array[] = [];
  channel.onMessage((message) => void messages.push(new Uint8Array(Buffer.from(message as Buffer))));
  connection.setRemoteDescription(remoteSdp(description, true), 'offer');
  connection.setLocalDescription('answer');
  const { revision } = offer.data;
  const answer = { ...parametersOf(connection), media: [] };
  await control.command('sub.answer', { room, participant, revision, description: answer });
  await eventually(() => channel.isOpen(), 'the peer did not connect', mediaMs);
  const close = () => {
    for (const part of [channel, track, connection]) part.close();
  };
  const decoded = () => messages.flatMap((message) => decodeData(message) ?? []);
  const data = () => decoded().length;
  const texts = () => decoded().map(({ payload }) => String(Buffer.from(payload)));
  const flow = () => messages.filter((message) => decodeData(message) === undefined).map((message) => [...message]);
  return { channel, revision, data, texts, flow, close };
}
