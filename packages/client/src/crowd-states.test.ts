import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeMedia } from '../testkit/fake-devices.ts';
import { createFakeWorld, settle } from '../testkit/fake-world.ts';
import { joined } from '../testkit/joined-room.ts';

const cameras = ['trk_1', 'trk_2', 'trk_3'];

/** A browser's peer connection on which three cameras arrive, as far as a subscriber goes. */
class CameraPeer {
  readonly #lines = cameras.map((id, mid) => ({ mid: String(mid), receiver: { track: fakeMedia('video', id) } }));
  readonly localDescription = { sdp: 'v=0\r\n' };
  createDataChannel = () => ({});
  getTransceivers = () => this.#lines;
  createAnswer = async () => this.localDescription;
  async setLocalDescription() {}
  async setRemoteDescription() {}
  close() {}
}

const offer = {
  type: 'sub.offer',
  revision: 1,
  restart: false,
  description: {
    ice: { ufrag: 'u', pwd: 'p' },
    dtls: { role: 'actpass', fingerprint: 'sha-256 00:11' },
    media: cameras.map((trackId, mid) => ({ mid: String(mid), kind: 'video', direction: 'sendonly', trackId })),
  },
};

test('[SDK-150] what arrives of many tracks is shown and emitted as if each had been told alone', async (context) => {
  const native = globalThis.RTCPeerConnection;
  Object.assign(globalThis, { RTCPeerConnection: CameraPeer });
  context.after(() => Object.assign(globalThis, { RTCPeerConnection: native }));
  const world = createFakeWorld();
  const room = await joined(world);
  const socket = world.sockets.at(-1) ?? assert.fail('no socket');
  const told: string[] = [];
  room.on('trackStreamStateChanged', ({ id, streamState, pauseReason }, { identity }) =>
    told.push(`${identity} ${id} ${streamState} ${pauseReason}`),
  );
  cameras.forEach((id, at) => {
    const track = { id, kind: 'VIDEO', source: 'CAMERA', name: null, muted: false };
    socket.receive({ type: 'track.published', seq: at + 2, identity: 'bob', track });
  });
  // Before its media is there.
  const first = { trackId: 'trk_1', state: 'PAUSED', reason: 'SETTINGS', layer: null };
  socket.receive({ type: 'stream.states', states: [first] });
  socket.receive(offer);
  await settle();
  const answer = socket.sent.find(({ type }) => type === 'sub.answer') ?? assert.fail('no answer');
  socket.receive({ type: 'response', ref: answer.id, data: {} });
  await settle();
  const shown = () => room.state.getSnapshot().participants[0]?.tracks.map(({ pauseReason }) => pauseReason);
  assert.deepEqual([shown(), told], [['settings', null, null], []]);

  const states = [
    { trackId: 'trk_1', state: 'ACTIVE', reason: null, layer: 0 },
    { trackId: 'trk_2', state: 'PAUSED', reason: 'MUTED', layer: null },
    { trackId: 'trk_3', state: 'PAUSED', reason: 'BANDWIDTH', layer: null },
    { trackId: 'trk_gone', state: 'PAUSED', reason: 'SETTINGS', layer: null },
  ];
  socket.receive({ type: 'stream.states', states });
  socket.receive({ type: 'stream.states', states });
  socket.receive({ type: 'stream.states', states: [] });
  assert.deepEqual(shown(), [null, 'muted', 'bandwidth']);
  assert.deepEqual(told, ['bob trk_1 active null', 'bob trk_2 paused muted', 'bob trk_3 paused bandwidth']);
  await room.leave();
});
