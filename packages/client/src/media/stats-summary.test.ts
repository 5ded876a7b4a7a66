import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStatsSummary } from './stats-summary.ts';

const report = (...reports: { type: string; id: string; [name: string]: unknown }[]) =>
  new Map(reports.map((one) => [one.id, one]));

const path = report(
  {
    type: 'candidate-pair',
    id: 'p',
    state: 'succeeded',
    nominated: true,
    currentRoundTripTime: 0.04,
    localCandidateId: 'l',
  },
  { type: 'local-candidate', id: 'l', candidateType: 'host', protocol: 'udp' },
);
const flow = (packetsReceived: number, packetsLost: number) =>
  report({ type: 'inbound-rtp', id: 'i', packetsReceived, packetsLost, jitter: 0.005 });

test('[SDK-60] figures are those since the last report, and what is not known is left out', () => {
  const summary = createStatsSummary();
  assert.equal(summary([]), null);
  assert.deepEqual(summary([path]), { rttMs: 40, transport: 'udp' });
  const first = summary([path, flow(90, 10)]);
  assert.partialDeepStrictEqual(first, { rttMs: 40, packetLossPercent: 10, jitterMs: 5, transport: 'udp' });
  assert.equal(summary([path, flow(190, 10)])?.packetLossPercent, 0, 'nothing was lost since');
  assert.equal(summary([path, flow(290, 5)])?.packetLossPercent, 0, 'a late packet is no negative loss');
});

test('[SDK-60] a score falls with loss and delay and stays between 1 and 4.5', () => {
  const scoreOf = (rtt: number, lost: number): number => {
    const pair = { type: 'candidate-pair', id: 'p', state: 'succeeded', nominated: true, currentRoundTripTime: rtt };
    const inbound = { type: 'inbound-rtp', id: 'i', packetsReceived: 100 - lost, packetsLost: lost, jitter: 0 };
    return createStatsSummary()([report(pair, inbound)])?.mos ?? 0;
  };
  const [good, far, lossy, dead] = [scoreOf(0.02, 0), scoreOf(0.6, 0), scoreOf(0.02, 10), scoreOf(2, 100)];
  assert.ok(good > 4.2 && good <= 4.5 && far < good && lossy < good, `${[good, far, lossy]}`);
  assert.equal(dead, 1);
});
