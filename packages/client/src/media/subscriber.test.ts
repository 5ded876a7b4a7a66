import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../../testkit/fake-world.ts';
import { ConnectionError } from '../errors.ts';
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

/** What the subscriber uses of a browser's connection; `described` says when an offer has been taken over. */
function newPeer(described: () => Promise<void>) {
  const peer = {
    isClosed: false,
    localDescription: { sdp: 'v=0\r\n' },
    createDataChannel: () => ({}),
    setRemoteDescription: described,
    createAnswer: async () => ({ sdp: 'v=0\r\n' }),
    async setLocalDescription() {},
    getTransceivers: () => [],
    close() {
      peer.isClosed = true;
    },
  };
  return peer;
}

const unheard = { onTrack() {}, onTrackGone() {}, onData() {}, onState() {}, onFailed() {} };

test('[SDK-29] offers that wait when the call ends open no transport, and one under way ends without an error', async () => {
  const peers: { isClosed: boolean }[] = [];
  const answers: number[] = [];
  const described = Promise.withResolvers<void>();
  const subscriber = createSubscriber({
    newPeerConnection() {
      const peer = newPeer(() => described.promise);
      peers.push(peer);
      return peer as unknown as RTCPeerConnection;
    },
    async answer({ revision }) {
      answers.push(revision);
    },
    ...unheard,
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

test('[SDK-48] an answer that comes after a newer offer is refused without an error; one to the newest is an error', async () => {
  const refusal = new Error('The latest offer is revision 2.');
  const subscriber = createSubscriber({
    newPeerConnection: () => newPeer(async () => {}) as unknown as RTCPeerConnection,
    answer: () => Promise.reject(refusal),
    ...unheard,
  });
  const [superseded, newest] = [subscriber.offer(offer(1)), subscriber.offer(offer(2))];
  await superseded;
  await assert.rejects(newest, refusal);
});

test('[MED-77] an offer that the browser, the server or a timeout refuses asks for another transport; a lost connection does not', async () => {
  let failures = 0;
  const fails = async (error: Error, isOfBrowser: boolean): Promise<number> => {
    failures = 0;
    const subscriber = createSubscriber({
      ...unheard,
      newPeerConnection: () =>
        newPeer(async () => {
          if (isOfBrowser) throw error;
        }) as unknown as RTCPeerConnection,
      answer: () => Promise.reject(error),
      onFailed: () => {
        failures += 1;
      },
    });
    await assert.rejects(subscriber.offer(offer(1)), error);
    return failures;
  };
  assert.equal(await fails(new DOMException('bad m-line', 'InvalidAccessError'), true), 1);
  assert.equal(await fails(new Error('BAD_DESCRIPTION'), false), 1);
  assert.equal(await fails(new ConnectionError('network', { code: 'timeout' }), false), 1);
  assert.equal(await fails(new ConnectionError('network'), false), 0);
});
