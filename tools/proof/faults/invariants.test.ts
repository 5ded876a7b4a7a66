import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  backWithin,
  completeWithin,
  fact,
  type Invariant,
  keptWorking,
  mediaFlows,
  noExit,
  nothingLost,
  onlyStatuses,
  quick,
  refused,
  saysNotReady,
  socketsStay,
  staysHealthy,
  webhooksKept,
} from './invariants.ts';
import type { Answer, Kind, MediaSample, Observation } from './observation.ts';
import { scenarios } from './scenarios.ts';

/** A fault from second 10 to second 20. */
const fault = { from: 10_000, to: 20_000 };

const answer = (kind: Kind, at: number, more: Partial<Answer> = {}): Answer => ({
  kind,
  process: 0,
  at,
  ms: 10,
  status: 200,
  code: null,
  hasRetryAfter: false,
  ...more,
});
const unavailable = { status: 503, code: 'SVC_SERVICE_UNAVAILABLE', hasRetryAfter: true };

/** A packet every 100 ms, but for a pause. */
const media = (pauseMs = 0): MediaSample[] =>
  Array.from({ length: 300 }, (_, place) => {
    const at = place * 100;
    const isPaused = at > 12_000 && at <= 12_000 + pauseMs;
    return { call: 'node-0', at, packets: isPaused ? 121 : place + 1 };
  });

const good: Observation = {
  log: [
    { is: 'invoke', key: 'a' },
    { is: 'ok', key: 'a', seq: 1, change: 1 },
  ],
  history: [{ key: 'a', seq: 1 }],
  sightings: [{ by: 'follower', keys: [{ key: 'a', seq: 1 }] }],
  followerFaults: [],
  answers: [answer('send', 12_000), answer('healthz', 13_000), answer('send', 21_000)],
  fault,
  completeMs: 100,
  closedSockets: [],
  exits: [],
  media: media(),
  webhooks: { delivered: 1, failed: 0, lost: 0, early: 0, mistold: 0, badSignatures: 0, unstable: 0 },
  facts: { kills: 20 },
};
const seen = (more: Partial<Observation>): Observation => ({ ...good, ...more });
const answering = (...answers: Answer[]): Observation => seen({ answers });

function assertDetects(invariant: Invariant, right: Observation, ...wrong: Observation[]): void {
  assert.deepEqual(invariant(right), []);
  for (const [place, one] of wrong.entries()) assert.notDeepEqual(invariant(one), [], `wrong ${place} passes`);
}

test('[FAULT-1] a lost, doubled, renumbered or unheard message is found, and a run without any', () => {
  assertDetects(
    nothingLost,
    good,
    seen({ history: [] }),
    seen({ history: [...good.history, { key: 'a', seq: 2 }] }),
    seen({ history: [{ key: 'a', seq: 2 }] }),
    seen({ sightings: [{ by: 'follower', keys: [] }] }),
    seen({ followerFaults: ['follower 0 received 1 after 1'] }),
    seen({ log: [] }),
  );
});

test('[FAULT-1] every way a webhook can go wrong is found', () => {
  const { webhooks } = good;
  const wrongs = (['lost', 'early', 'mistold', 'badSignatures', 'unstable'] as const).map((what) =>
    seen({ webhooks: { ...webhooks, [what]: 1 } }),
  );
  assertDetects(webhooksKept, good, ...wrongs, seen({ webhooks: { ...webhooks, delivered: 0 } }));
});

test('[FAULT-1] work that stops, is slow, or was never asked for is found', () => {
  const invariant = keptWorking(['send'], 1_000);
  const at = (more: Partial<Answer>): Observation => answering(answer('send', 12_000, more));
  assertDetects(
    invariant,
    good,
    at({ status: 500 }),
    at({ status: 0 }),
    at({ status: -1 }),
    at({ ms: 1_001 }),
    answering(),
  );
  // Before the fault began is another matter; what it overtook at its edges, and what comes after it, is not.
  const beside = (at: number, more: Partial<Answer>) => answering(answer('send', 12_000), answer('send', at, more));
  assert.deepEqual(invariant(beside(1_000, { status: 500 })), []);
  const hasEdges = [beside(9_999, { status: 500 }), beside(19_999, { status: 0 }), beside(21_000, { status: 500 })];
  for (const one of [invariant, quick(['send'])]) assertDetects(one, good, ...hasEdges, beside(9_000, { ms: 5_000 }));
  assert.deepEqual(keptWorking(['send'], 1_000, 0)(beside(21_000, { status: 500 })), []);
});

test('[FAULT-1] a refusal that is late, bare, of another kind, or none at all is found', () => {
  const at = (more: Partial<Answer>): Observation => answering(answer('send', 12_000, { ...unavailable, ...more }));
  assertDetects(
    refused(['send'], ['SVC_SERVICE_UNAVAILABLE']),
    at({}),
    at({ ms: 2_001 }),
    at({ hasRetryAfter: false }),
    at({ code: 'SVC_INTERNAL' }),
    at({ status: 201, code: null }),
    at({ status: 500 }),
    answering(),
  );
  assertDetects(
    quick(['send']),
    at({}),
    at({ ms: 2_001 }),
    at({ hasRetryAfter: false }),
    at({ status: 500 }),
    answering(),
  );
  assert.deepEqual(quick(['send'])(good), []);
});

test('[FAULT-1] a process that does not live, says ready without its database, or ends is found', () => {
  assertDetects(staysHealthy, good, answering(answer('healthz', 1_000, { status: 503 })), answering());
  const ready = (status: number): Observation => answering(answer('readyz', 15_000, { status }));
  assertDetects(saysNotReady, ready(503), ready(200), answering());
  assertDetects(noExit, good, seen({ exits: ['process 0 ended'] }));
  assertDetects(socketsStay, good, seen({ closedSockets: ['a socket'] }));
});

test('[FAULT-1] media that pauses is found, and a run without a call', () => {
  assertDetects(mediaFlows(500), good, seen({ media: media(700) }), seen({ media: [] }));
  const late = media().map((sample) => (sample.at > 20_000 ? { ...sample, packets: 201 } : sample));
  assertDetects(mediaFlows(500), good, seen({ media: late, completeMs: 2_000 }));
});

test('[FAULT-1] what comes back late or never is found', () => {
  const invariant = backWithin(['send'], 1_000);
  const late = answer('send', 22_000, { status: 503 });
  assertDetects(invariant, good, answering(late, answer('send', 23_000)), answering(late), answering());
  assertDetects(completeWithin(5_000), good, seen({ completeMs: 5_001 }));
});

test('[FAULT-1] an answer that is not allowed is found whenever it is given, and a figure out of its bounds', () => {
  assertDetects(
    onlyStatuses(503),
    good,
    answering(answer('send', 1, { status: 500 })),
    answering(answer('send', 1, { status: 0 })),
  );
  assertDetects(fact('kills', 20, 20), good, seen({ facts: { kills: 19 } }), seen({ facts: {} }));
});

test('[FAULT-1] every scenario is held against what must always hold', () => {
  assert.ok(Object.keys(scenarios).length >= 12);
  for (const [name, { invariants, isBroken }] of Object.entries(scenarios)) {
    if (isBroken) continue;
    assert.ok(Object.values(invariants).includes(nothingLost), name);
    assert.ok(Object.values(invariants).includes(webhooksKept) || name.startsWith('embedded'), name);
    assert.ok(
      Object.keys(invariants).some((name) => name.startsWith('nothing but 503')),
      name,
    );
  }
});
