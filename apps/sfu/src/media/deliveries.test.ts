import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deliveries } from './deliveries.ts';

const BYTES = 1250;
const FEEDBACK_MS = 60;

interface Path {
  /** 0: no limit. */
  bps: number;
  delayMs: number;
  queueMs: number;
  loss: number;
}

/** Packets at a steady rate over a path that tests change as they go; what feedback about them reported, and when. */
class Line {
  readonly path: Path = { bps: 0, delayMs: 40, queueMs: 300, loss: 0 };
  readonly estimates: { at: number; bps: number }[] = [];
  readonly #deliveries = new Deliveries();
  #now = 0;
  #freeAt = 0;
  #sequence = -1;
  #base: number | undefined;
  #arrivals: number[] = [];
  #toldAt = 0;
  #count = 0;

  /** The receiver's clock is another one. */
  readonly #offset = 123_456;

  run(ms: number, bps: number): void {
    const step = (BYTES * 8000) / bps;
    for (const until = this.#now + ms; this.#now < until; this.#now += step) this.#send(this.#now);
  }

  get now(): number {
    return this.#now;
  }

  #send(now: number): void {
    const { path } = this;
    this.#sequence = this.#deliveries.sent(BYTES, now);
    this.#base ??= this.#sequence;
    this.#count += 1;
    const start = Math.max(now, this.#freeAt);
    const isLost = start - now > path.queueMs || (path.loss > 0 && this.#count % Math.round(1 / path.loss) === 0);
    if (!isLost && path.bps > 0) this.#freeAt = start + (BYTES * 8000) / path.bps;
    const arrivedAt = (path.bps > 0 ? this.#freeAt : start) + path.delayMs + this.#offset;
    this.#arrivals.push(isLost ? Number.NaN : arrivedAt);
    if (now - this.#toldAt >= FEEDBACK_MS) this.#tell(now);
  }

  #tell(now: number): void {
    this.#toldAt = now;
    const arrivals = Float64Array.from(this.#arrivals);
    const bps = this.#deliveries.onFeedback({ base: this.#base ?? 0, count: arrivals.length, arrivals });
    if (bps !== undefined) this.estimates.push({ at: now, bps });
    this.#base = undefined;
    this.#arrivals = [];
  }
}

test('[MED-50] a path that carries everything gives no estimate, whatever single packets it loses', () => {
  const line = new Line();
  line.run(5000, 2_000_000);
  line.path.loss = 0.05;
  line.run(70_000, 3_000_000);
  assert.deepEqual(line.estimates, []);
});

test('[MED-50] what a path bears is known within moments of its narrowing, and within five hundredths', () => {
  for (const [sentBps, bps] of [
    [1_700_000, 400_000],
    [3_000_000, 1_000_000],
    [600_000, 500_000],
  ] as const) {
    const line = new Line();
    line.run(2000, sentBps);
    line.path.bps = bps;
    const narrowedAt = line.now;
    line.run(1500, sentBps);
    const [first] = line.estimates;
    assert.ok(first && first.at - narrowedAt < 900, `${bps}: estimates after ${first && first.at - narrowedAt} ms`);
    for (const estimates of line.estimates)
      assert.ok(Math.abs(estimates.bps / bps - 1) < 0.05, `${bps}: ${estimates.bps}`);
  }
});

test('[MED-50] an overflowing queue goes on telling, one that drains does not', () => {
  const line = new Line();
  line.run(2000, 1_500_000);
  line.path.bps = 400_000;
  line.run(1000, 1_500_000);
  const before = line.estimates.length;
  line.run(1000, 1_500_000);
  assert.ok(line.estimates.length > before);
  const draining = line.now;
  line.run(4000, 200_000);
  assert.deepEqual(
    line.estimates.filter(({ at }) => at > draining + 400),
    [],
  );
});

test('[MED-50] a path that becomes longer is not taken for a queue', () => {
  const line = new Line();
  line.run(3000, 1_500_000);
  line.path.delayMs = 160;
  line.run(10_000, 1_500_000);
  assert.deepEqual(line.estimates, []);
  line.path.bps = 500_000;
  line.run(1000, 1_500_000);
  assert.ok(line.estimates.length > 0, 'a queue on the longer path is seen');
});

test('[MED-50] feedback about what was never sent, or was reported before, is ignored', () => {
  const deliveries = new Deliveries();
  const arrivals = Float64Array.from({ length: 500 }, (_, index) => index * 30);
  assert.equal(deliveries.onFeedback({ base: 40_000, count: 500, arrivals }), undefined);
  for (let index = 0; index < 500; index += 1) deliveries.sent(BYTES, index);
  assert.notEqual(deliveries.onFeedback({ base: 0, count: 500, arrivals }), undefined);
  const later = arrivals.map((at) => at * 2 + 20_000);
  assert.equal(deliveries.onFeedback({ base: 0, count: 500, arrivals: later }), undefined);
});
