import { setTimeout as pause } from 'node:timers/promises';
import { createPostgres } from '../../../../apps/server/src/adapters/db/postgres/postgres.ts';
import { sql } from '../../../../apps/server/src/core/sql.ts';
import { keptWorking, mediaFlows, noExit, onlyStatuses, socketsStay, staysHealthy } from '../invariants.ts';
import { always, type Scenarios } from '../scenario.ts';

/** Runs that must fail: an invariant that passes these checks nothing. */
export const broken: Scenarios = {
  'broken-store': {
    title: 'The database forgets a message that was acknowledged, and a delivery that was made',
    async harm({ postgres, begin, end }) {
      const db = createPostgres({ url: postgres.url });
      begin();
      await db.execute(sql`
        delete from messages where id = (select id from messages order by created_at desc, seq desc limit 1)`);
      await db.execute(sql`
        delete from deliveries where id = (select id from deliveries where status = 'DELIVERED' limit 1)`);
      end();
      await db.close();
    },
    isBroken: true,
    invariants: always,
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
    invariants: {
      'no process ends': noExit,
      'open sockets stay': socketsStay,
      'media flows': mediaFlows(1_000),
      '/healthz says 200': staysHealthy,
      'sends go on': keptWorking(['send'], 2_000),
      'nothing but 503 goes wrong': onlyStatuses(503),
    },
  },
};
