import type { UsageMeterName } from '@parley/contract';
import type { ProjectScope } from './caller.ts';
import { type Clock, iso } from './clock.ts';

export interface UsageCount extends ProjectScope {
  meter: UsageMeterName;
  /** UTC. */
  day: string;
  /** The API key behind it; empty for none. */
  keyId: string;
  value: number;
}

/** Counts in memory what is used too often for a write each; the domain of usage stores the sums. */
export interface UsageCounts {
  add(meter: UsageMeterName, scope: ProjectScope, keyId: string | null, value: number): void;
  /** What was counted since the last time. */
  take(): UsageCount[];
  /** What could not be stored. */
  giveBack(counts: readonly UsageCount[]): void;
}

export function createUsageCounts({ clock }: { clock: Clock }): UsageCounts {
  let counts = new Map<string, UsageCount>();

  function sum(count: UsageCount): void {
    const key = `${count.meter} ${count.projectId} ${count.environment} ${count.day} ${count.keyId}`;
    const known = counts.get(key);
    if (known) known.value += count.value;
    else counts.set(key, count);
  }

  return {
    add(meter, { projectId, environment }, keyId, value) {
      sum({ meter, projectId, environment, day: iso(clock.now()).slice(0, 10), keyId: keyId ?? '', value });
    },
    take() {
      const taken = [...counts.values()];
      counts = new Map();
      return taken;
    },
    giveBack(taken) {
      for (const count of taken) sum({ ...count });
    },
  };
}
