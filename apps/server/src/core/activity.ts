import type { ProjectScope } from './caller.ts';
import type { Clock } from './clock.ts';

/** What is counted by the minute beside connections. */
type ActivityMetric = 'messages' | 'delivered' | 'undelivered';

interface ActivityCount extends ProjectScope {
  metric: ActivityMetric;
  /** When it was counted, in milliseconds. */
  at: number;
  value: number;
}

/** Counts in memory what happens too often for a row each; observability stores the sums. */
export interface Activity {
  count(metric: ActivityMetric, scope: ProjectScope): void;
  /** What was counted since the last time. */
  take(): ActivityCount[];
}

const minuteMs = 60_000;

export function createActivity({ clock }: { clock: Clock }): Activity {
  let counts = new Map<string, ActivityCount>();
  return {
    count(metric, { projectId, environment }) {
      const now = clock.now();
      const key = `${metric} ${projectId} ${environment} ${Math.floor(now / minuteMs)}`;
      const known = counts.get(key);
      if (known) known.value++;
      else counts.set(key, { metric, projectId, environment, at: now, value: 1 });
    },
    take() {
      const taken = [...counts.values()];
      counts = new Map();
      return taken;
    },
  };
}
