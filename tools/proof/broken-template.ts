/**
 * A new data folder whose only template is half a database: one is made from nothing, as PostgreSQL's own initdb does.
 * `node tools/proof/broken-template.ts`
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '../../apps/server/src/adapters/db/embedded/embedded.ts';
import { sql } from '../../apps/server/src/core/sql.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-template-'));
try {
  const half = join(folder, 'half');
  mkdirSync(half);
  writeFileSync(join(half, 'PG_VERSION'), '18');
  const db = await openEmbedded({ folder: join(folder, 'data'), templates: [half] });
  assert.deepEqual(await db.query(sql`select 1 as one`), [{ one: 1 }]);
  await db.close();
  console.log('A database was made without its template.');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
