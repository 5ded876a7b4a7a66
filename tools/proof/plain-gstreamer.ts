/**
 * GStreamer publishes by WHIP; another GStreamer watches by WHEP and decodes it, and a DTLS-SRTP peer that joined by the
 * protocol receives it too: `node tools/proof/plain-gstreamer.ts`. Needs python3 (or PYTHON) with GStreamer's webrtcbin.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Description } from '@parley/media-description';
import { joinRoom } from '../../apps/server/testkit/clients/signal-client.ts';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { startService } from '../../apps/server/testkit/kit/service.ts';
import { startTestNode } from '../../apps/sfu/testkit/node.ts';
import { RtpPeer } from '../../apps/sfu/testkit/rtp-peer.ts';

const FRAMES = 100;
const service = await startService();
const [secret = ''] = service.config.sfuSecrets;
// At the address of the machine: GStreamer's ICE leaves loopback out.
const node = await startTestNode({ CONTROL_URL: service.url, SFU_REGISTRATION_SECRET: secret }, true);
const { api } = await service.newProject();
const room = await api.call('createRoom', { body: { name: 'studio' } });
const mint = async (participantIdentity: string, publish: boolean): Promise<string> => {
  const body = { participantIdentity, permissions: { publish } };
  return (await api.call('mintRtcToken', { roomId: room.id, body })).token;
};

function run(way: 'whip' | 'whep', token: string): ChildProcess {
  const script = new URL(`./${way}-gstreamer.py`, import.meta.url).pathname;
  const url = `${service.url}/v1/rooms/${room.id}/${way}`;
  return spawn(process.env['PYTHON'] ?? 'python3', [script, url, token, '60'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

const tracks = async () => (await api.call('listRoomParticipants', { id: room.id })).flatMap((one) => one.tracks);
const encoder = run('whip', await mint('encoder', true));
await eventually(async () => (await tracks()).length === 2, { withinMs: 30_000 });

const player = run('whep', await mint('player', false));
let decoded = { video: 0, audio: 0 };
if (player.stdout)
  createInterface(player.stdout).on('line', (line) => {
    const [, video = '', audio = ''] = /^decoded (\d+) (\d+)$/.exec(line) ?? [];
    if (video) decoded = { video: Number(video), audio: Number(audio) };
    else console.log(`WHEP: ${line}`);
  });

const viewer = await joinRoom(service.url, await mint('viewer', false));
const peer = new RtpPeer('viewer');
const offer = await viewer.take('sub.offer');
const description = peer.answer(offer['description'] as Description);
await viewer.ask({ type: 'sub.answer', revision: offer['revision'], description });
await eventually(() => peer.received > 300 && decoded.video > FRAMES && decoded.audio > FRAMES, { withinMs: 40_000 });

console.log(`WHIP: ${(await tracks()).map(({ kind, codec }) => `${kind} ${codec}`).join(', ')}`);
console.log(`by the protocol: ${peer.received} packets`);
console.log(`WHEP: ${decoded.video} pictures and ${decoded.audio} pieces of sound decoded`);
for (const child of [encoder, player]) child.kill();
await viewer.close();
await node.stop();
await service.stop();
process.exit(0);
