import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../../testkit/fake-world.ts';
import { createSubscriber, type SubOffer } from './subscriber.ts';

const offer = (revision: number): SubOffer => ({
  revision,
  restart: false,
  description: {
    ice: { ufrag: 'u', pwd: 'p' },
    dtls: { role: 'actpass', fingerprint: 'sha-256 00:11' },
    media: [],
  },
});

test('[SDK-29] offers that wait when the call ends open no transport, and one under way ends without an error', async () => {
  const peers: { isClosed: boolean }[] = [];
  const answers: number[] = [];
  const described = Promise.withResolvers<void>();
  const subscriber = createSubscriber({
    newPeerConnection() {
      const peer = {
        isClosed: false,
        localDescription: { sdp: 'v=0\r\n' },
        createDataChannel: () => ({}),
        setRemoteDescription: () => described.promise,
        async setLocalDescription() {},
        getTransceivers: () => [],
        close() {
          peer.isClosed = true;
        },
      };
      peers.push(peer);
      // What the subscriber uses of the browser.
      return peer as unknown as RTCPeerConnection;
    },
    async answer({ revision }) {
      answers.push(revision);
    },
    onTrack() {},
    onTrackGone() {},
    onData() {},
    onState() {},
  });
  const offers = [subscriber.offer(offer(1)), subscriber.offer(offer(2))];
  await settle();
  subscriber.close();
  described.reject(new DOMException('closed', 'InvalidStateError'));
  await Promise.all(offers);
  assert.deepEqual([peers.map(({ isClosed }) => isClosed), answers], [[true], []]);

  // The next call is answered.
  void subscriber.offer(offer(3)).catch(() => {});
  await settle();
  assert.equal(peers.length, 2);
});
