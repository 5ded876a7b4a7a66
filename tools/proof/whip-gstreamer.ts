/**
 * GStreamer publishes by WHIP, and a DTLS-SRTP peer that joined by the protocol receives it:
 * `node tools/proof/whip-gstreamer.ts`. Needs python3 (or PYTHON) with GStreamer's webrtcbin.
 */
import { spawn } from 'node:child_process';
import type { Description } from '@parley/media-description';
import { eventually } from '../../apps/server/testkit/eventually.ts';
import { startService } from '../../apps/server/testkit/service.ts';
import { joinRoom } from '../../apps/server/testkit/signal-client.ts';
import { startTestNode } from '../../apps/sfu/testkit/node.ts';
import { RtpPeer } from '../../apps/sfu/testkit/rtp-peer.ts';

const service = await startService();
const [secret = ''] = service.config.sfuSecrets;
// At the address of the machine: GStreamer's ICE leaves loopback out.
const node = await startTestNode({ CONTROL_URL: service.url, SFU_REGISTRATION_SECRET: secret }, true);
const { api } = await service.newProject();
const room = await api.call('createRoom', { body: { name: 'studio' } });
const mint = async (participantIdentity: string): Promise<string> => {
  const body = { participantIdentity, permissions: { publish: true } };
  return (await api.call('mintRtcToken', { roomId: room.id, body })).token;
};

const script = new URL('./whip-gstreamer.py', import.meta.url).pathname;
const encoder = spawn(
  process.env['PYTHON'] ?? 'python3',
  [script, `${service.url}/v1/rooms/${room.id}/whip`, await mint('gstreamer'), '40'],
  {
    stdio: ['ignore', 'inherit', 'inherit'],
  },
);
const tracks = async () => (await api.call('listRoomParticipants', { id: room.id })).flatMap((one) => one.tracks);
await eventually(async () => (await tracks()).length === 2, { withinMs: 30_000 });
const viewer = await joinRoom(service.url, await mint('viewer'));
const peer = new RtpPeer('viewer');
const offer = await viewer.take('sub.offer');
const description = peer.answer(offer['description'] as Description);
await viewer.ask({ type: 'sub.answer', revision: offer['revision'], description });
await eventually(() => peer.received > 300, { withinMs: 30_000 });
console.log(`${(await tracks()).map(({ kind, codec }) => `${kind} ${codec}`).join(', ')}: ${peer.received} packets`);
encoder.kill();
await viewer.close();
await node.stop();
await service.stop();
process.exit(0);
