import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PipeCongestion } from './pipe-congestion.ts';

/** A path of 500 datagrams a second; `pass` measures it as a pipe does and says how many layers are cut then. */
function stage() {
  const congestion = new PipeCongestion();
  let now = 5000;
  let receivedDatagrams = 0;
  let lostDatagrams = 0;
  const pass = (seconds: number, { loss = 0, rttMs = 40 }: { loss?: number; rttMs?: number | null } = {}): number => {
    for (let tick = 0; tick < seconds * 50; tick += 1) {
      now += 20;
      receivedDatagrams += 10 * (1 - loss);
      lostDatagrams += 10 * loss;
      congestion.measure({ receivedDatagrams, lostDatagrams, rttMs }, now);
    }
    return congestion.layersCut;
  };
  return { pass };
}

test('[PIPE-44] a pipe that loses more than a tenth carries a layer less, then another; some loss changes nothing', () => {
  const { pass } = stage();
  assert.equal(pass(10), 0);
  assert.equal(pass(30, { loss: 0.08 }), 0);
  assert.equal(pass(2, { loss: 0.2 }), 1);
  assert.equal(pass(1, { loss: 0.2 }), 1, 'what was in the queue is still lost');
  assert.equal(pass(3, { loss: 0.2 }), 2);
  assert.equal(pass(60, { loss: 0.05 }), 2, 'neither lost nor clean');
});

test('[PIPE-44] so does one whose round trip grows by a queue; a longer route is no queue for ever', () => {
  const { pass } = stage();
  assert.equal(pass(10), 0);
  assert.equal(pass(5, { rttMs: 180 }), 0);
  assert.equal(pass(2, { rttMs: 900 }), 1);
  const moved = stage();
  moved.pass(10);
  moved.pass(200, { rttMs: 300 });
  assert.equal(moved.pass(60, { rttMs: 300 }), 0);
  assert.equal(moved.pass(10, { rttMs: null }), 0, 'no ping has come back');
});

test('[PIPE-44] a layer comes again after ten clean seconds, and twice as late each time that this was too much', () => {
  const { pass } = stage();
  pass(5);
  assert.equal(pass(2, { loss: 0.3 }), 1);
  assert.equal(pass(9), 1);
  assert.equal(pass(3), 0);
  assert.equal(pass(2, { loss: 0.3 }), 1, 'too much');
  assert.equal(pass(15), 1);
  assert.equal(pass(8), 0);
  pass(30);
  assert.equal(pass(2, { loss: 0.3 }), 1, 'it had held: another congestion');
  assert.equal(pass(12), 0);
});
