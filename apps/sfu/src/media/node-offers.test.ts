import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CodecName, Description, Extensions } from '@parley/media-description';
import { NodeOffers } from './node-offers.ts';
import { Publication } from './publication.ts';
import { Subscription } from './subscription.ts';

const local = {
  ice: { ufrag: 'node', pwd: 'p'.repeat(24) },
  dtls: { role: 'actpass' as const, fingerprint: `sha-256 ${'AB:'.repeat(31)}AB` },
};

const camera = (id: string, name: CodecName = 'VP8', extensionIds: Extensions = {}) =>
  new Publication({
    id,
    request: { cid: id, kind: 'VIDEO', source: 'CAMERA' },
    encoding: { codec: { name, pt: 96 }, red: undefined },
    mid: '0',
    rids: [],
    extensionIds,
    publishedAt: 0,
    events: { keyFrameNeeded() {}, started() {}, audioLevel() {}, queued() {} },
  });

function newOffers({ now = 0, isLarge = false } = {}) {
  const room = { now, isLarge };
  const sent: { revision: number; isRestart: boolean; description: Description }[] = [];
  let ssrc = 1;
  const ownExtensions: Extensions[] = [];
  const offers = new NodeOffers({
    now: () => room.now,
    isLarge: () => room.isLarge,
    takeSsrc: () => (ssrc += 2),
    newSubscription: (publication, _codecs, own, extensions) => {
      if (extensions) ownExtensions.push(extensions);
      const ids = { ssrc: own, rtxSsrc: own + 1, payloadType: 96, redPayloadType: undefined, rtxPayloadType: 97 };
      return new Subscription(publication, ids, { rtp() {}, rtcp() {} }, () => 0);
    },
    openTransport: () => local,
    acceptTransport() {},
    sendOffer: (revision, isRestart, description) => sent.push({ revision, isRestart, description }),
  });
  const midsOf = (index: number) => sent[index]?.description.media.map(({ mid }) => mid);
  return { offers, sent, midsOf, own: ownExtensions, room };
}

test('[MED-77] an offer that is never answered is made anew, whole if it was whole, with what came meanwhile', () => {
  const { offers, sent, midsOf } = newOffers();
  offers.open();
  offers.flush();
  offers.assign(camera('trk_1'), 'ps_1');
  offers.flush();
  assert.equal(sent.length, 1, 'one offer at a time');
  for (const now of [0, 500, 14_000]) offers.expire(now);
  assert.equal(sent.length, 1);
  offers.expire(15_000);
  assert.deepEqual([sent[1]?.revision, sent[1]?.isRestart, sent[1]?.description.ice], [2, false, local.ice]);
  assert.deepEqual(midsOf(1), ['data', '0']);

  offers.answer(2, { ...local, media: [] });
  offers.assign(camera('trk_2'), 'ps_1');
  offers.flush();
  offers.expire(16_000);
  offers.assign(camera('trk_3'), 'ps_1');
  offers.expire(31_000);
  assert.deepEqual([midsOf(2), midsOf(3), sent[3]?.description.ice], [['1'], ['1', '2'], undefined]);
  assert.throws(() => offers.answer(3, { media: [] }), /revision 4/);
  assert.equal(offers.answer(4, { media: [] }).length, 2);
  offers.close();
});

test('[MED-85] [MED-51] a subscriber is offered the descriptor of a stream that has it; who refuses it gets packets without', () => {
  const { offers, sent, own } = newOffers();
  offers.open();
  offers.assign(camera('trk_1', 'VP9', { dependencyDescriptor: 13 }), 'ps_1');
  offers.assign(camera('trk_2', 'VP9'), 'ps_1');
  offers.flush();
  const [, first, second] = sent[0]?.description.media ?? [];
  assert.deepEqual([first?.descriptor, second?.descriptor, first?.extensions], [12, undefined, undefined]);
  offers.answer(1, { ...local, media: [] });
  assert.deepEqual(
    own.map(({ dependencyDescriptor }) => dependencyDescriptor),
    [undefined],
    'a client that says nothing does not know it',
  );
  offers.assign(camera('trk_3', 'VP9', { dependencyDescriptor: 13 }), 'ps_1');
  offers.flush();
  const extensions = { dependencyDescriptor: 12 };
  offers.answer(2, { media: [{ mid: '2', kind: 'video', direction: 'recvonly', extensions }] });
  assert.equal(own.length, 1);
  offers.close();
});

test('[MED-117] in a large room what changes is offered twice a second; a transport, and all there is for it, at once', () => {
  const { offers, sent, midsOf, room } = newOffers({ isLarge: true });
  const answer = () => offers.answer(sent.length, { ...local, media: [] });
  // More than fits one frame.
  for (let index = 0; index < 100; index += 1) offers.assign(camera(`trk_${index}`), 'ps_1');
  offers.open();
  offers.flush();
  for (let before = 0; before < sent.length; ) {
    before = sent.length;
    answer();
    offers.flush();
  }
  const whole = sent.length;
  assert.ok(whole > 1);
  assert.equal(sent.flatMap(({ description }) => description.media).length, 101);

  const publishAt = (now: number, id: string) => {
    room.now = now;
    offers.assign(camera(id), 'ps_2');
    offers.flush();
    offers.tick();
  };
  publishAt(100, 'trk_a');
  publishAt(480, 'trk_b');
  assert.equal(sent.length, whole);
  room.now = 500;
  offers.tick();
  assert.deepEqual(midsOf(whole), ['100', '101']);
  publishAt(600, 'trk_c');
  answer();
  offers.flush();
  assert.equal(sent.length, whole + 1, 'an answer does not end the wait');
  publishAt(5000, 'trk_d');
  assert.deepEqual(midsOf(whole + 1), ['102', '103']);
  answer();
  publishAt(5600, 'trk_e');
  assert.equal(sent.length, whole + 3, 'the first after half a second goes at once');

  offers.restart();
  offers.flush();
  assert.equal(sent.at(-1)?.isRestart, true, 'a new transport does not wait');
  offers.close();
});

test('[MED-35] with another transport a track has another subscription, and none until the client answers', () => {
  const { offers, midsOf } = newOffers();
  const publication = camera('trk_1');
  offers.open();
  const { use } = offers.assign(publication, 'ps_1');
  offers.flush();
  const before = use?.subscription ?? assert.fail('no subscription');
  publication.subscribe(before);
  offers.restart();
  offers.flush();
  assert.deepEqual(publication.subscriptions, []);
  assert.notEqual(use?.subscription.ids.ssrc, before.ids.ssrc);
  assert.deepEqual(midsOf(1), ['data', '0']);
  offers.close();
});
