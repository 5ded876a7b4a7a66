import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DownlinkEstimator } from './downlink-estimator.ts';
import { toAbsSendTime } from './rtp.ts';
import { UPLINK_BPS_MAX, UplinkEstimator } from './uplink-estimator.ts';

/** A second of packets, `delay` ms on their way at its start and `delay + growth` at its end. */
function second(estimator: UplinkEstimator, start: number, delay: number, growth: number) {
  for (let at = 0; at < 1000; at += 10) {
    const sent = start + at;
    estimator.packet(toAbsSendTime(sent), 1250, sent + delay + (growth * at) / 1000);
  }
}

test('[MED-18] a clean path lets a publisher send all it wants', () => {
  const estimator = new UplinkEstimator();
  for (let index = 0; index < 100; index += 1) {
    second(estimator, 50_000 + index * 1000, 40, 0);
    estimator.loss({ expected: 100, lost: 0 }, 50_000 + index * 1000);
  }
  assert.equal(estimator.bitsPerSecond, UPLINK_BPS_MAX);
});

test('[MED-18] a queue that builds up on the way brings a publisher below what arrives, and it recovers', () => {
  const estimator = new UplinkEstimator();
  second(estimator, 60_000, 40, 0);
  second(estimator, 61_000, 40, 400);
  second(estimator, 62_000, 440, 0);
  const low = estimator.bitsPerSecond;
  assert.ok(low < 1_000_000 && low > 500_000, `${low}`);
  for (let index = 0; index < 20; index += 1) {
    second(estimator, 63_000 + index * 1000, 40, 0);
    estimator.loss({ expected: 100, lost: 0 }, 63_000 + index * 1000);
  }
  assert.ok(estimator.bitsPerSecond > low * 3);
});

test('[MED-18] heavy loss brings a publisher down', () => {
  const estimator = new UplinkEstimator();
  second(estimator, 0, 40, 0);
  estimator.loss({ expected: 4, lost: 2 }, 1000);
  estimator.loss({ expected: 90, lost: 5 }, 1500);
  assert.equal(estimator.bitsPerSecond, UPLINK_BPS_MAX, 'a few of a few packets say nothing');
  estimator.loss({ expected: 100, lost: 40 }, 2500);
  assert.ok(estimator.bitsPerSecond < 1_000_000);
});

test('[MED-19] a falling report from a subscriber is believed, a low first one is not', () => {
  const estimator = new DownlinkEstimator();
  const start = estimator.bitsPerSecond;
  estimator.remb(500_000, 0);
  assert.equal(estimator.bitsPerSecond, start);
  estimator.remb(400_000, 100);
  assert.equal(estimator.bitsPerSecond, 400_000);
});

test('[MED-19] losses bring a subscriber down only when they are many, and hold whatever the reports say', () => {
  const estimator = new DownlinkEstimator();
  const start = estimator.bitsPerSecond;
  for (let second = 1; second < 10; second += 1) estimator.loss({ expected: 100, lost: 5 }, 1_000_000, second * 1000);
  assert.equal(estimator.bitsPerSecond, start);
  for (let second = 10; second < 18; second += 1) estimator.loss({ expected: 100, lost: 30 }, 1_000_000, second * 1000);
  const low = estimator.bitsPerSecond;
  assert.ok(low < 900_000);
  estimator.remb(2_000_000, 18_000);
  assert.equal(estimator.bitsPerSecond, low);
});

test('[MED-19] a probe without complaint lifts the estimate, one with a complaint waits longer for the next', () => {
  const estimator = new DownlinkEstimator();
  estimator.remb(500_000, 0);
  estimator.remb(400_000, 100);
  assert.equal(estimator.probe(900_000, 1000), 0, 'not right after congestion');
  assert.equal(estimator.probe(900_000, 5000), 900_000);
  assert.equal(estimator.probe(900_000, 5800), 0, 'padding ends');
  estimator.probe(900_000, 6300);
  assert.equal(estimator.bitsPerSecond, 900_000);

  assert.equal(estimator.probe(2_000_000, 9000), 2_000_000);
  estimator.remb(390_000, 9300);
  estimator.remb(370_000, 9400);
  assert.equal(estimator.bitsPerSecond, 370_000);
  assert.equal(estimator.probe(2_000_000, 13_000), 0);
  assert.equal(estimator.probe(2_000_000, 14_000), 2_000_000);
});

test('[MED-19] feedback about a queue brings a subscriber just below what its path bears', () => {
  const estimator = new DownlinkEstimator();
  assert.equal(estimator.isCongested(0), false);
  estimator.feedback(400_000, 0);
  assert.equal(estimator.bitsPerSecond, 360_000);
  assert.ok(estimator.isCongested(500) && !estimator.isCongested(1500));
  estimator.feedback(900_000, 100);
  assert.equal(estimator.bitsPerSecond, 360_000, 'only a probe leads up');
});

test('[MED-19] with feedback the way up goes by steps; one that fills the path shows its capacity', () => {
  const estimator = new DownlinkEstimator();
  estimator.feedback(400_000, 0);
  let now = 4000;
  /** Runs the probe that is due, to its end or to the given complaint. */
  const probe = (borneBps?: number) => {
    const bps = estimator.probe(2_000_000, now);
    now += 200;
    estimator.feedback(borneBps, now);
    now += 600;
    estimator.probe(2_000_000, now);
    now += 300;
    return bps;
  };
  assert.equal(probe(), 540_000, 'half as much again');
  assert.equal(estimator.bitsPerSecond, 540_000);
  assert.equal(probe(700_000), 810_000);
  assert.equal(estimator.bitsPerSecond, 630_000, 'a failed one tells the capacity');
  for (let failed = 0; failed < 6; failed += 1) {
    now += 8000;
    assert.equal(probe(700_000), 945_000, 'and the next comes after eight seconds at most');
  }
});

test('[MED-19] a lift that does not hold counts as a probe that failed, for who cannot be sent padding', () => {
  const estimator = new DownlinkEstimator();
  const tries: number[] = [];
  for (let now = 0, liftedAt = 0; now < 60_000; now += 200) {
    const isLifted = estimator.bitsPerSecond > 600_000;
    liftedAt = isLifted ? liftedAt || now : 0;
    const isQueued = isLifted && now - liftedAt >= 600;
    estimator.feedback(isQueued ? 500_000 : undefined, now);
    if (isQueued) tries.push(now);
    estimator.probe(650_000, now);
  }
  const waits = tries.slice(2).map((at, index) => at - (tries[index + 1] ?? 0));
  assert.ok(waits.length >= 4 && waits.length <= 9, `${waits}`);
  assert.ok((waits.at(-1) ?? 0) > 8000, `${waits}`);
});
