import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Description, fromSdp, toSdp } from '@parley/media-description';
import { toTransportSdp } from '@parley/media-description/transport-sdp';
import * as native from 'node-datachannel';
import { forgottenOnceClosed } from '../src/media/native-part.ts';

/** The node's side as a native peer takes it: with its candidates in the one video line. */
export function remoteSdp(description: Description, hasData: boolean): string {
  const candidates = toSdp(description)
    .split('\r\n')
    .filter((line) => line.startsWith('a=candidate'));
  return toTransportSdp(description, { hasData }).replace('a=mid:0\r\n', `a=mid:0\r\n${candidates.join('\r\n')}\r\n`);
}

export function newPeer(name: string) {
  const connection = new native.PeerConnection(name, {
    iceServers: [],
    disableAutoNegotiation: true,
    forceMediaTransport: true,
  });
  // The library lets a connection go only where its state is listened to.
  connection.onStateChange(() => {});
  const video = new native.Video('0', 'SendRecv');
  video.addVP8Codec(96);
  return { connection, track: forgottenOnceClosed(connection.addTrack(video)) };
}

export const parametersOf = (connection: native.PeerConnection) => {
  const { ice, dtls } = fromSdp(connection.localDescription()?.sdp ?? '');
  return { ice, dtls };
};

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** After the tests of a file: the library holds the process open until its objects are collected. */
export async function collectPeers(): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    collectGarbage();
    await turn();
  }
}
