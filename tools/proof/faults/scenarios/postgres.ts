import { setTimeout as pause } from 'node:timers/promises';
import {
  backWithin,
  mediaFlows,
  noExit,
  onlyStatuses,
  quick,
  refused,
  saysNotReady,
  socketsStay,
  staysHealthy,
} from '../invariants.ts';
import { always, core, type Scenarios } from '../scenario.ts';

/** Long enough to see whether all is back within ten seconds. */
const options = { nodes: 2, afterMs: 12_000 };

/** It may be back before every client has asked once. */
const lookMs = 2_000;

const invariants = {
  ...always,
  'no process ends': noExit,
  'open sockets stay': socketsStay,
  'media flows': mediaFlows(1_000),
  '/healthz says 200': staysHealthy,
  'nothing but 503 goes wrong': onlyStatuses(503),
  'sends, reads, mints and joins work or are refused for now, within 2 s': quick(core),
  'all is back within 10 s': backWithin(core, 10_000),
};

/** What a key may do is known for a second: the net under its revocation. */
const knownMs = 1_000;
const refusals = {
  'sends, reads, mints and joins answer 503 and when to come back, within 2 s': refused(
    core,
    ['SVC_SERVICE_UNAVAILABLE'],
    knownMs,
  ),
};

export const postgres: Scenarios = {
  'postgres-restart': {
    title: 'PostgreSQL restarts',
    options,
    async harm({ postgres: own, begin, end }) {
      begin();
      await own.stop('fast');
      await own.start();
      await pause(lookMs);
      end();
    },
    invariants,
  },

  'postgres-crash': {
    title: 'PostgreSQL crashes and recovers',
    options,
    async harm({ postgres: own, begin, end }) {
      begin();
      await own.stop('immediate');
      await own.start();
      await pause(lookMs);
      end();
    },
    invariants,
  },

  'postgres-hang': {
    title: 'PostgreSQL takes connections and answers nothing for 15 s',
    options,
    async harm({ postgres: own, log, begin, end }, { scale }) {
      begin();
      own.freeze();
      log('PostgreSQL hangs');
      await pause(Math.max(8_000, 15_000 * scale));
      end();
      own.thaw();
    },
    invariants: { ...invariants, '/readyz says 503': saysNotReady, ...refusals },
  },

  'postgres-stop': {
    title: 'PostgreSQL is gone for 30 s',
    options,
    async harm({ postgres: own, log, begin, end }, { scale }) {
      begin();
      await own.stop('fast');
      log('PostgreSQL is gone');
      await pause(Math.max(8_000, 30_000 * scale));
      end();
      await own.start();
    },
    invariants: { ...invariants, '/readyz says 503': saysNotReady, ...refusals },
  },
};
