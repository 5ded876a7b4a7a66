import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkerLoad } from './control/worker-protocol.ts';
import { createLoadMeter } from './load-meter.ts';
import { NOTHING } from './metrics.ts';

const load = (more: Partial<WorkerLoad>, counted: Partial<WorkerLoad['counters']>): WorkerLoad => ({
  ...NOTHING,
  ...more,
  counters: { ...NOTHING.counters, ...counted },
});

test('[OBS-50] a heartbeat tells the CPU of each process, packets a second and loss, since the one before', () => {
  let now = 0;
  const workers: { pid: number; load: WorkerLoad }[] = [
    { pid: 1, load: load({ cpuMicros: 0, outPackets: 100 }, { packetsIn: 1_000, lostIn: 50 }) },
    { pid: 2, load: load({ cpuMicros: 500 }, {}) },
  ];
  const memory = () => ({ free: 1, total: 2 });
  const meter = createLoadMeter({ workers, clock: { now: () => now } as never, cores: 8, memory });
  const first = meter.read();
  assert.deepEqual([first.coreCpuPercents, first.packetsInPerSecond, first.lossInPercent], [[], 0, 0]);
  now = 5_000;
  workers[0] = {
    pid: 1,
    load: load({ cpuMicros: 4_500_000, outPackets: 1_100 }, { packetsIn: 1_900, lostIn: 150, lostOut: 20 }),
  };
  const { cpuPercent, coreCpuPercents, packetsInPerSecond, packetsOutPerSecond, lossInPercent, lossOutPercent } =
    meter.read();
  assert.deepEqual([coreCpuPercents, cpuPercent], [[90, 0], 45]);
  assert.deepEqual([packetsInPerSecond, packetsOutPerSecond], [180, 200]);
  assert.deepEqual([lossInPercent, lossOutPercent], [10, 2]);
  // A process that was started again counts from zero: nothing is negative, and nothing is made up.
  now = 10_000;
  workers[0] = { pid: 9, load: load({ cpuMicros: 10, outPackets: 3 }, { packetsIn: 5 }) };
  const { coreCpuPercents: cores, packetsInPerSecond: packets } = meter.read();
  assert.deepEqual([cores, packets], [[0], 0]);
});
