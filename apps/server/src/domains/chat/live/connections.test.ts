import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { createMemoryExpiringSets } from '../../../adapters/expiring-sets/memory.ts';
import { DatabaseUnavailable, type Db } from '../../../core/db.ts';
import { createIds } from '../../../core/ids.ts';
import type { Sql } from '../../../core/sql.ts';
import type { ConnectionRow } from './connection-store.ts';
import { createConnectionLog } from './connections.ts';

test('while the database is away the connections that end are kept, up to 100,000 of them', async () => {
  const clock = createFakeClock();
  const written: ConnectionRow[][] = [];
  let isAway = true;
  let meanwhile = (): void => {};
  const db: Partial<Db> = {
    async execute({ values }: Sql) {
      meanwhile();
      if (isAway) throw new DatabaseUnavailable('away');
      written.push(JSON.parse(String(values[0])));
      return 0;
    },
  };
  const log = createConnectionLog({
    // The database of this test; nothing else of it is used.
    db: db as Db,
    expiringSets: createMemoryExpiringSets(clock),
    clock,
    ids: createIds(clock),
    changes: { note: () => {}, watch: async () => () => {} },
  });
  const end = (id: number, messagesSent = 0) =>
    log.note(
      {
        id: String(id),
        projectId: 'p',
        environment: 'DEVELOPMENT',
        userId: 'alice',
        userAgent: null,
        ip: '192.0.2.1',
        connectedAt: clock.now(),
        subscriptions: 0,
        messagesSent,
      },
      1000,
    );
  for (let id = 0; id < 100_000; id++) end(id);
  meanwhile = () => end(100_000);
  await assert.rejects(log.flush(), DatabaseUnavailable);
  meanwhile = () => {};
  end(1, 7);
  isAway = false;
  await log.flush();
  assert.ok(Math.max(...written.map((rows) => rows.length)) <= 2_000);
  assert.equal(written.flat().length, 100_000);
  const byId = new Map(written.flat().map((row) => [row.id, row]));
  assert.equal(byId.get('1')?.messagesSent, 7, 'the last of a connection counts');
  assert.equal(byId.has('0'), false, 'the oldest was evicted');
  assert.equal(byId.has('100000'), true);
});
