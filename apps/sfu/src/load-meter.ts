import type { WorkerLoad } from './control/worker-protocol.ts';
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
  outPackets: number;
  packetsIn: number;
  lostIn: number;
  lostOut: number;
}

/** What a heartbeat says: rates are over the time since the last reading. */
export function createLoadMeter({ workers, clock, cores, memory }: LoadMeterDeps) {
  const before = new Map<number, Sample>();

  /** Counters start at zero in a new process, hence by process id. */
  function rates() {
    const sum = { cores: [] as number[], inBps: 0, outBps: 0, dataDropped: 0 };
    const packets = { in: 0, out: 0, lostIn: 0, lostOut: 0, elapsed: 0 };
    const now = clock.now();
    for (const { pid, load } of workers) {
      if (pid === undefined || !load) continue;
      const sample = sampleOf(load, now);
      const { cpuMicros, inBytes, outBytes, dataDropped } = sample;
      const last = before.get(pid);
      before.set(pid, sample);
      sum.dataDropped += dataDropped - (last?.dataDropped ?? 0);
      const elapsed = last ? now - last.at : 0;
      if (!last || elapsed <= 0) continue;
      sum.cores.push((cpuMicros - last.cpuMicros) / 1000 / elapsed);
      sum.inBps += ((inBytes - last.inBytes) * 8000) / elapsed;
      sum.outBps += ((outBytes - last.outBytes) * 8000) / elapsed;
      packets.in += sample.packetsIn - last.packetsIn;
      packets.out += sample.outPackets - last.outPackets;
      packets.lostIn += sample.lostIn - last.lostIn;
      packets.lostOut += sample.lostOut - last.lostOut;
      packets.elapsed = elapsed;
    }
    return { ...sum, packets };
  }

  function read(): NodeLoad {
    const { cores: busy, inBps, outBps, dataDropped, packets } = rates();
    const perSecond = (amount: number): number =>
      packets.elapsed > 0 ? Math.max(0, Math.round((amount * 1000) / packets.elapsed)) : 0;
    const { free, total } = memory();
    const loads = workers.flatMap(({ load }) => (load ? [load] : []));
    return {
      activeRooms: loads.reduce((sum, load) => sum + load.rooms, 0),
      activeParticipants: loads.reduce((sum, load) => sum + load.participants, 0),
      cpuPercent: clamp(
        (busy.reduce((sum, share) => sum + share, 0) * 100) / Math.min(cores, Math.max(1, workers.length)),
      ),
      memoryPercent: clamp(((total - free) * 100) / total),
      networkInBps: Math.max(0, Math.round(inBps)),
      networkOutBps: Math.max(0, Math.round(outBps)),
      dataDropped,
      coreCpuPercents: busy.map((share) => clamp(share * 100)),
      packetsInPerSecond: perSecond(packets.in),
      packetsOutPerSecond: perSecond(packets.out),
      lossInPercent: shareOf(packets.lostIn, packets.in + packets.lostIn),
      lossOutPercent: shareOf(packets.lostOut, packets.out),
    };
  }

  return { read };
}

const sampleOf = (load: WorkerLoad, at: number): Sample => {
  const { cpuMicros, inBytes, outBytes, outPackets, dataDropped, counters } = load;
  const { packetsIn, lostIn, lostOut } = counters;
  return { at, cpuMicros, inBytes, outBytes, outPackets, dataDropped, packetsIn, lostIn, lostOut };
};

const shareOf = (part: number, whole: number): number => (whole > 0 ? clamp((part * 100) / whole) : 0);

const clamp = (percent: number): number => Math.max(0, Math.min(100, Math.round(percent * 10) / 10));
