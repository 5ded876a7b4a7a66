import { setTimeout as pause } from 'node:timers/promises';
import { keptWorking, mediaFlows, noExit, nothingLost, onlyStatuses, socketsStay, staysHealthy } from '../bars.ts';
import type { Scenarios } from '../scenario.ts';

/** Runs that must be found out: a judge that passes these sees nothing. */
export const broken: Scenarios = {
  'broken-commit': {
    title: 'PostgreSQL says that it has stored what it has not, and crashes',
    options: { postgres: { settings: { synchronous_commit: 'off', wal_writer_delay: '10000ms' } } },
    async harm({ postgres, begin, end }) {
      begin();
      await postgres.stop('immediate');
      await postgres.start();
      end();
    },
    isBroken: true,
    bars: { 'nothing acknowledged is lost, nothing is there twice, no gap': nothingLost },
  },

  'broken-processes': {
    title: 'A server and a media node are killed and nobody starts them again',
    options: { nodes: 2 },
    async harm({ fleet, nodes, begin, end }) {
      begin();
      await nodes[0]?.kill();
      await fleet.processes[2]?.kill();
      await pause(5_000);
      end();
    },
    isBroken: true,
    bars: {
      'no process ends': noExit,
      'open sockets stay': socketsStay,
      'media flows': mediaFlows(1_000),
      '/healthz says 200': staysHealthy,
      'sends go on': keptWorking(['send'], 2_000),
      'nothing but 503 goes wrong': onlyStatuses(503),
    },
  },
};
