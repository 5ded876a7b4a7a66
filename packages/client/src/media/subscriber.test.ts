import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DATA_FLOW, type DataMessage, encodeData, encodeDataFlow } from '@parley/media-description';
import { settle } from '../../testkit/fake-world.ts';
import { ConnectionError, type MediaError } from '../errors.ts';
import { sendData } from './data.ts';
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

const silentCallbacks = {
  restart: async () => {},
  onTrack() {},
  onTrackGone() {},
  onData() {},
  onError() {},
  onState() {},
  onFailed() {},
};

test('[SDK-29] [SDK-151] offers that wait when the call ends open no transport, and one under way ends without an error', async () => {
  const peers: { isClosed: boolean }[] = [];
  const answers: number[] = [];
  const subscriber = createSubscriber({
    newPeerConnection() {
      const peer = newPeer(() => new Promise(() => {}));
      peers.push(peer);
      return peer as unknown as RTCPeerConnection;
    },
    async answer({ revision }) {
      answers.push(revision);
    },
    ...silentCallbacks,
  });
  const offers = [subscriber.offer(offer(1)), subscriber.offer(offer(2))];
  await settle();
  subscriber.close();
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
    ...silentCallbacks,
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
      ...silentCallbacks,
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

/** A subscriber with an open transport, whose channels are driven by hand. */
async function withChannels() {
  const sent: Uint8Array[] = [];
  const received: DataMessage[] = [];
  const errors: MediaError[] = [];
  const newChannel = () => ({
    readyState: 'open',
    bufferedAmount: 0,
    onmessage: (_: { data: ArrayBuffer }) => {},
    send: (bytes: Uint8Array) => sent.push(bytes),
  });
  const channels: ReturnType<typeof newChannel>[] = [];
  const peers: { connectionState: string; onconnectionstatechange?: () => void }[] = [];
  const restarts: number[] = [];
  const answers: Promise<void>[] = [];
  const subscriber = createSubscriber({
    ...silentCallbacks,
    async restart(received) {
      restarts.push(received);
      await answers.shift();
    },
    newPeerConnection() {
      const createDataChannel = () => {
        const channel = newChannel();
        channels.push(channel);
        return channel;
      };
      const peer = { ...newPeer(async () => {}), createDataChannel, connectionState: 'new' };
      peers.push(peer);
      return peer as unknown as RTCPeerConnection;
    },
    answer: async () => {},
    onData: (message) => received.push(message),
    onError: (error) => errors.push(error),
  });
  await subscriber.offer(offer(1));
  const { channel, whenReady } = subscriber;
  const send = (reliable: boolean) =>
    sendData({ channel, whenReady, sendFrame: async () => assert.fail('there is a channel') }, 'x', { reliable });
  const hear = (bytes: Uint8Array<ArrayBuffer>, index = 0) => channels[index]?.onmessage({ data: bytes.buffer });
  const hearText = (text: string, index = 0) =>
    hear(encodeData({ head: { text: true }, payload: new TextEncoder().encode(text) }), index);
  const texts = () => received.map(({ payload }) => new TextDecoder().decode(payload));
  const connect = () => {
    const peer = peers.at(-1);
    assert.ok(peer);
    peer.connectionState = 'connected';
    peer.onconnectionstatechange?.();
  };
  return { subscriber, sent, received, errors, connect, answers, restarts, send, hear, hearText, texts };
}

test('[SDK-148] reliable data waits while a receiver is slow; lossy data does not', async () => {
  const { sent, received, errors, send, hear } = await withChannels();
  hear(encodeDataFlow(DATA_FLOW.held));
  const waiting = [send(true), send(true)];
  await send(false);
  await settle();
  assert.equal(sent.length, 1);
  hear(encodeDataFlow(DATA_FLOW.open));
  await Promise.all(waiting);
  await send(true);
  assert.equal(sent.length, 4);
  hear(encodeData({ head: { from: 'bob', text: true }, payload: new TextEncoder().encode('hi') }));
  assert.deepEqual(
    received.map(({ head, payload }) => [head.from, new TextDecoder().decode(payload)]),
    [['bob', 'hi']],
  );
  assert.deepEqual(errors, []);
});

test('[SDK-148] when a receiver misses data the sends that wait reject, it is emitted as an error, and later ones go', async () => {
  const { sent, errors, send, hear } = await withChannels();
  hear(encodeDataFlow(DATA_FLOW.held));
  const waiting = send(true);
  hear(encodeDataFlow(DATA_FLOW.missed));
  await assert.rejects(waiting, { code: 'data_missed' });
  await send(true);
  assert.equal(sent.length, 1);
  hear(encodeDataFlow(DATA_FLOW.missed));
  await settle();
  assert.deepEqual(
    errors.map(({ code }) => code),
    ['data_missed', 'data_missed'],
  );
});

test('[SDK-148] what waits when the transport is replaced goes by the next one, or by signaling', async () => {
  const { subscriber, send, hear } = await withChannels();
  hear(encodeDataFlow(DATA_FLOW.held));
  const waiting = send(true);
  await settle();
  subscriber.close();
  await assert.rejects(waiting, /there is a channel/);
});

test('[SDK-149] who asks for another transport says how much this one brought; what comes by it later comes again', async () => {
  const { subscriber, restarts, hear, hearText, texts } = await withChannels();
  hearText('one');
  hear(encodeDataFlow(DATA_FLOW.held));
  hearText('lossy', 1);
  hearText('two');
  await subscriber.restart();
  hearText('three');
  await subscriber.restart();
  assert.deepEqual(
    [restarts, texts()],
    [
      [2, 2],
      ['one', 'lossy', 'two'],
    ],
  );

  await subscriber.offer({ ...offer(2), restart: true });
  hearText('three', 2);
  assert.deepEqual(texts(), ['one', 'lossy', 'two', 'three']);
  await subscriber.restart();
  assert.equal(restarts.at(-1), 1, 'of each transport by itself');
});

test('[SDK-149] a transport that recovers while it cannot be replaced loses nothing', async () => {
  for (const isRefusedFirst of [true, false]) {
    const { subscriber, restarts, connect, answers, hearText, texts } = await withChannels();
    const answer = Promise.withResolvers<void>();
    answers.push(answer.promise);
    const refused = assert.rejects(subscriber.restart(), /no/);
    hearText('one');
    const refuse = async () => {
      answer.reject(new Error('no'));
      await refused;
    };
    if (isRefusedFirst) await refuse();
    connect();
    if (!isRefusedFirst) await refuse();
    hearText('two');
    assert.deepEqual(texts(), ['one', 'two']);
    await subscriber.restart();
    assert.deepEqual(restarts, [0, 2]);
  }
});

test('[SDK-149] a transport that recovers while it is being replaced brings nothing twice', async () => {
  const { subscriber, connect, answers, hearText, texts } = await withChannels();
  const answer = Promise.withResolvers<void>();
  answers.push(answer.promise);
  const restarted = subscriber.restart();
  hearText('one');
  connect();
  hearText('two');
  answer.resolve();
  await restarted;
  connect();
  await subscriber.offer({ ...offer(2), restart: true });
  hearText('one', 2);
  hearText('two', 2);
  assert.deepEqual(texts(), ['one', 'two']);
});
