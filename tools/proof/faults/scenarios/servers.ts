import { setTimeout as pause } from 'node:timers/promises';
import { seeded } from '../../../../apps/server/testkit/chat/load.ts';
import { completeWithin, onlyStatuses } from '../invariants.ts';
import { always, type Scenarios } from '../scenario.ts';

const invariants = {
  ...always,
  'nothing but 503 and refused connections': onlyStatuses(503, 0),
  'subscribers are complete within 5 s': completeWithin(5_000),
};

export const servers: Scenarios = {
  rolling: {
    title: 'SIGTERM to one process after the other',
    async harm({ fleet, log, begin, end }) {
      begin();
      for (const place of fleet.processes.keys()) {
        const started = performance.now();
        await fleet.restart(place, 'SIGTERM');
        log(`process ${place} is another after ${Math.round(performance.now() - started)} ms`);
      }
      end();
    },
    invariants,
  },

  'kill-9': {
    title: 'kill -9 of some process, 20 times',
    async harm({ fleet, log, begin, end, measure }, { scale, seed }) {
      const random = seeded(seed);
      const kills = Math.max(3, Math.round(20 * scale));
      begin();
      for (let kill = 1; kill <= kills; kill++) {
        await pause(random(1_500));
        await fleet.restart(random(fleet.processes.length));
        log(`kill ${kill} of ${kills}`);
      }
      end();
      measure('kills', kills);
    },
    invariants,
  },
};
