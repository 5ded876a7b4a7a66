import type { Worker } from './control/workers.ts';
import type { MediaClock } from './media/clock.ts';
import type { NodeLoad } from './registration.ts';

interface LoadMeterDeps {
  workers: readonly Pick<Worker, 'load' | 'pid'>[];
  clock: MediaClock;
  cores: number;
  memory(): { free: number; total: number };
}

interface Sample {
  at: number;
  cpuMicros: number;
  inBytes: number;
  outBytes: number;
  dataDropped: number;
}

/** What a heartbeat says: rates are over the time since the last reading. */
export function createLoadMeter({ workers, clock, cores, memory }: LoadMeterDeps) {
  const before = new Map<number, Sample>();

  /** Counters start at zero in a new process, hence by process id. */
  function rates() {
    const sum = { cpu: 0, inBps: 0, outBps: 0, dataDropped: 0 };
    const now = clock.now();
    for (const { pid, load } of workers) {
      if (pid === undefined || !load) continue;
      const { cpuMicros, inBytes, outBytes, dataDropped } = load;
      const last = before.get(pid);
      before.set(pid, { at: now, cpuMicros, inBytes, outBytes, dataDropped });
      sum.dataDropped += dataDropped - (last?.dataDropped ?? 0);
      const elapsed = last ? now - last.at : 0;
      if (!last || elapsed <= 0) continue;
      sum.cpu += (cpuMicros - last.cpuMicros) / 1000 / elapsed;
      sum.inBps += ((inBytes - last.inBytes) * 8000) / elapsed;
      sum.outBps += ((outBytes - last.outBytes) * 8000) / elapsed;
    }
    return sum;
  }

  function read(): NodeLoad {
    const { cpu, inBps, outBps, dataDropped } = rates();
    const { free, total } = memory();
    const loads = workers.flatMap(({ load }) => (load ? [load] : []));
    return {
      activeRooms: loads.reduce((sum, load) => sum + load.rooms, 0),
      activeParticipants: loads.reduce((sum, load) => sum + load.participants, 0),
      cpuPercent: clamp((cpu * 100) / Math.min(cores, Math.max(1, workers.length))),
      memoryPercent: clamp(((total - free) * 100) / total),
      networkInBps: Math.max(0, Math.round(inBps)),
      networkOutBps: Math.max(0, Math.round(outBps)),
      dataDropped,
    };
  }

  return { read };
}

const clamp = (percent: number): number => Math.max(0, Math.min(100, Math.round(percent * 10) / 10));
