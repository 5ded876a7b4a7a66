import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeWorld, settle } from '../../testkit/fake-world.ts';
import type { SubOffer } from './subscriber.ts';
import { createTransports, type TransportsDeps } from './transports.ts';

const offer: SubOffer = {
  revision: 1,
  restart: false,
  description: { ice: { ufrag: 'u', pwd: 'p' }, dtls: { role: 'actpass', fingerprint: 'sha-256 00:11' }, media: [] },
};

/** What the subscriber uses of a browser's connection. */
class Peer {
  connectionState = 'connected';
  localDescription = { sdp: 'v=0\r\n' };
  createDataChannel = () => ({});
  getTransceivers = () => [];
  async setRemoteDescription() {}
  createAnswer = async () => ({});
  async setLocalDescription() {}
  close() {}
}

test('[SDK-54] when the network changed and signaling had to be connected anew, transports that are there are restarted at once', async () => {
  const world = createFakeWorld();
  const asked: string[] = [];
  const native = globalThis.RTCPeerConnection;
  Object.assign(globalThis, { RTCPeerConnection: Peer });
  const transports = createTransports({
    runtime: world,
    telemetry: { note() {}, flush() {} },
    signal: {
      state: 'connected',
      async request({ type, pc }: { type: string; pc?: string }) {
        asked.push([type, pc].join(' ').trim());
      },
      whenConnected: async () => {},
      rejoin: () => asked.push('rejoin'),
      stop: () => asked.push('stop'),
    },
    onTrack() {},
    onTrackGone() {},
    onData() {},
    onBroken: (isBroken: boolean) => asked.push(isBroken ? 'broken' : 'whole'),
    // The rest of what they are is not used here.
  } as unknown as TransportsDeps);
  await transports.signalConnected(true);
  await transports.subscriber.offer(offer);
  assert.deepEqual(asked.splice(0), ['sub.answer']);

  for (const type of ['visibilitychange', 'online', 'visibilitychange'] as const) {
    world.wake(type);
    await transports.signalConnected(false);
    await settle();
    assert.deepEqual(asked.splice(0), type === 'online' ? ['broken', 'ice.restart sub'] : []);
  }
  transports.close();
  world.wake('online');
  assert.deepEqual([asked, world.timers], [[], 0]);
  Object.assign(globalThis, { RTCPeerConnection: native });
});

test('[MED-77] when an offer cannot be answered the node is asked for another transport', async () => {
  const world = createFakeWorld();
  const asked: string[] = [];
  const native = globalThis.RTCPeerConnection;
  class Refusing extends Peer {
    override async setRemoteDescription() {
      throw new DOMException('bad m-line', 'InvalidAccessError');
    }
  }
  Object.assign(globalThis, { RTCPeerConnection: Refusing });
  const transports = createTransports({
    runtime: world,
    telemetry: { note() {}, flush() {} },
    signal: {
      state: 'connected',
      async request({ type, pc }: { type: string; pc?: string }) {
        asked.push([type, pc].join(' ').trim());
      },
      whenConnected: async () => {},
    },
    onBroken() {},
    // The rest of what they are is not used here.
  } as unknown as TransportsDeps);
  await assert.rejects(transports.subscriber.offer(offer));
  await settle();
  assert.deepEqual(asked, ['ice.restart sub']);
  transports.close();
  Object.assign(globalThis, { RTCPeerConnection: native });
});
