/**
 * The clients of the forwarding benchmark, in a process of their own: one publisher and N subscribers, real DTLS-SRTP
 * peers on the library's own API. Driven over the process channel by `sfu-forwarding.ts`.
 */
import { type Description, fromSdp, toSdp } from '@parley/media-description';
import { toTransportSdp } from '@parley/media-description/transport-sdp';
import * as native from 'node-datachannel';

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
const peers: native.PeerConnection[] = [];
const tracks: native.Track[] = [];
let received = 0;
let sending: NodeJS.Timeout | undefined;
let publisher: native.PeerConnection | undefined;
let outgoing: native.Track | undefined;

/** Candidates of the node go into the one video line; the rest is as for any transport. */
const remoteSdp = (description: Description, hasData: boolean): string => {
  const candidates = toSdp(description)
    .split('\r\n')
    .filter((line) => line.startsWith('a=candidate'));
  return toTransportSdp(description, { hasData }).replace('a=mid:0\r\n', `a=mid:0\r\n${candidates.join('\r\n')}\r\n`);
};

function newPeer(name: string): { peer: native.PeerConnection; track: native.Track } {
  const peer = new native.PeerConnection(name, {
    iceServers: [],
    disableAutoNegotiation: true,
    forceMediaTransport: true,
  });
  const video = new native.Video('0', 'SendRecv');
  video.addVP8Codec(96);
  const track = peer.addTrack(video);
  peers.push(peer);
  tracks.push(track);
  return { peer, track };
}

const local = (peer: native.PeerConnection): Description => fromSdp(peer.localDescription()?.sdp ?? '');

function offer(): Description {
  const { peer, track } = newPeer('publisher');
  publisher = peer;
  outgoing = track;
  peer.setLocalDescription('offer');
  const { ice, dtls } = local(peer);
  const codecs = [{ name: 'VP8' as const, pt: 96 }];
  const extensions = { absSendTime: 2, mid: 4 };
  return {
    ice,
    dtls,
    media: [{ mid: '0', kind: 'video', direction: 'sendonly', trackId: 'bench', codecs, extensions, ssrcs: [SSRC] }],
  };
}

function subscribe(description: Description): Description {
  const { peer, track } = newPeer(`subscriber-${peers.length}`);
  track.onMessage((packet) => {
    if ((packet[1] ?? 0) !== 201) received += 1;
  });
  peer.setRemoteDescription(remoteSdp(description, true), 'offer');
  peer.setLocalDescription('answer');
  const { ice, dtls } = local(peer);
  return { ice, dtls, media: [] };
}

/** Bursts of five every few milliseconds, a key frame a second, VP8 descriptors that count. */
function send(packetsPerSecond: number, bytes: number): void {
  const packet = Buffer.alloc(bytes);
  let sequence = 0;
  const started = performance.now();
  sending = setInterval(() => {
    const due = Math.floor(((performance.now() - started) / 1000) * packetsPerSecond);
    for (; sequence < due; sequence += 1) {
      const picture = (sequence >> 2) & 0x7fff;
      const isKey = sequence % packetsPerSecond < 4;
      packet.set([0x90, 96, (sequence >> 8) & 0xff, sequence & 0xff]);
      packet.writeUInt32BE(((sequence >> 2) * 3000) >>> 0, 4);
      packet.writeUInt32BE(SSRC, 8);
      packet.set([0xbe, 0xde, 0, 2, 0x40, 0x30, 0x22, 0, 0, 0, 0, 0], 12);
      packet.set(
        [
          sequence % 4 === 0 ? 0x90 : 0x80,
          0xe0,
          0x80 | (picture >> 8),
          picture & 0xff,
          picture & 0xff,
          0,
          isKey ? 0 : 1,
        ],
        24,
      );
      try {
        outgoing?.sendMessageBinary(packet);
      } catch {
        // Not connected yet.
      }
    }
  }, 5);
}

process.on('message', (request: PeerRequest) => {
  let answer: unknown = null;
  if (request.kind === 'offer') answer = offer();
  else if (request.kind === 'answered')
    publisher?.setRemoteDescription(remoteSdp(request.description, false), 'answer');
  else if (request.kind === 'subscribe') answer = subscribe(request.description);
  else if (request.kind === 'send') send(request.packetsPerSecond, request.bytes);
  else if (request.kind === 'stop') clearInterval(sending);
  else if (request.kind === 'leave') peers[request.index]?.close();
  else answer = received;
  process.send?.({ answer });
});
process.on('disconnect', () => process.exit(0));
