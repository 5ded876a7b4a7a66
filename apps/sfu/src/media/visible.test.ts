import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Downlink } from './downlink.ts';
import type { PeerTransport } from './peer-transport.ts';
import { Publication } from './publication.ts';
import type { Slot, StreamState } from './slot.ts';
import { Subscription } from './subscription.ts';
import { type Candidate, chooseVisible } from './visible.ts';

const newSlot = (id: string): Slot => {
  const publication = new Publication({
    id,
    request: { cid: id, kind: 'VIDEO', source: 'CAMERA', layers: [{ rid: '', bitrate: 20_000 }] },
    encoding: { codec: { name: 'VP8', pt: 96 }, red: undefined },
    mid: id,
    rids: [],
    extensionIds: {},
    publishedAt: 0,
    events: { keyFrameNeeded() {}, started() {}, audioLevel() {}, queued() {} },
  });
  const ids = { ssrc: 10, rtxSsrc: 11, payloadType: 96, redPayloadType: undefined, rtxPayloadType: undefined };
  const subscription = new Subscription(publication, ids, { rtp() {}, rtcp() {} }, () => 0);
  return {
    mid: id,
    kind: 'video',
    use: { publication, subscription, streamId: id },
    isActive: true,
    announced: undefined,
  };
};

const video = (fields: Partial<Candidate> = {}): Candidate => ({
  isWanted: true,
  priority: 100,
  isShown: false,
  isSent: false,
  spokeAt: Number.NEGATIVE_INFINITY,
  ...fields,
});

test('[MED-99] places go to what is pinned, then what is shown, then who spoke last, then who came first', () => {
  const pinned = video({ priority: 200 });
  const shown = video({ isShown: true });
  const hidden = video({ isShown: true, isWanted: false });
  const [before, lately] = [video({ spokeAt: 1000 }), video({ spokeAt: 9000 })];
  const [first, second] = [video(), video()];
  const all = [first, second, before, lately, hidden, shown, pinned];
  const chosen = (places: number): Candidate[] => [...chooseVisible(all, places)];
  assert.deepEqual(chosen(1), [pinned]);
  assert.deepEqual(chosen(3), [pinned, shown, lately]);
  assert.deepEqual(chosen(5), [pinned, shown, lately, before, first]);
  assert.deepEqual(chosen(10), [pinned, shown, lately, before, first, second]);
});

test('[MED-99] who is seen keeps the place until somebody has spoken a second later', () => {
  const seen = video({ isSent: true, spokeAt: 5000 });
  const barely = video({ spokeAt: 5900 });
  const later = video({ spokeAt: 6100 });
  assert.deepEqual([...chooseVisible([barely, seen], 1)], [seen]);
  assert.deepEqual([...chooseVisible([later, seen], 1)], [later]);
});

test('[MED-99] a subscriber gets `maxVisible` videos; the others are paused by its settings, until they speak', () => {
  const slots = ['a', 'b', 'c'].map(newSlot);
  const spoke = new Map<string, number>();
  const states: StreamState[] = [];
  const downlink = new Downlink({
    slots: () => slots,
    isAdaptive: false,
    isLarge: () => false,
    maxVisible: 2,
    spokeAt: (id) => spoke.get(id) ?? Number.NEGATIVE_INFINITY,
    events: { streamState: (state) => states.push(state), streamStates() {}, demandChanged() {} },
  });
  // What the allocation reads of a transport.
  downlink.reset({ isOpen: true, sentBytes: 0, send() {} } as unknown as PeerTransport);
  const sent = (): string[] => slots.flatMap(({ mid, use }) => ((use?.subscription.target ?? -1) >= 0 ? [mid] : []));
  downlink.allocate(1000);
  assert.deepEqual(sent(), ['a', 'b']);
  assert.deepEqual(states, [{ trackId: 'c', state: 'PAUSED', reason: 'SETTINGS', layer: null }]);
  spoke.set('b', 1000).set('c', 1200);
  downlink.allocate(1200);
  assert.deepEqual(sent(), ['b', 'c']);
});
