import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase, type TestDatabase } from '../../../../testkit/kit/test-database.ts';
import type { Db } from '../../../core/db.ts';
import { sql } from '../../../core/sql.ts';
import { claimLinks } from '../links/link-store.ts';
import { claimMedia } from '../media/media-store.ts';
import { claimScans } from '../scan/scan-store.ts';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
  const { db } = database;
  for (const [name, uuid] of Object.entries(places)) {
    await db.execute(sql`
      insert into projects (id, name, slug, created_at, updated_at) select ${uuid}, ${name}, ${name}, now(), now()`);
    await db.execute(sql`
      insert into conversations (id, public_id, project_id, environment, name, type, epoch, created_at, updated_at)
      select ${uuid}, ${name}, ${uuid}, 'DEVELOPMENT', ${name}, 'GROUP', '', now(), now()`);
  }
  // A flood of one user, then a file of their neighbour, then one of another project.
  for (let at = 0; at < 20; at++) await wait('busy', 'flood', at);
  await wait('busy', 'neighbour', 30);
  await wait('quiet', 'other', 40);
});
after(() => database.close());

const places = {
  busy: '00000000-0000-0000-0000-000000000001',
  quiet: '00000000-0000-0000-0000-000000000002',
};
const time = (second: number): string => new Date(Date.UTC(2026, 10, 15, 12, 0, second)).toISOString();

async function wait(place: keyof typeof places, user: string, second: number): Promise<void> {
  const [id, at] = [`${user} ${second}`, time(second)];
  await database.db.execute(sql`
    insert into attachments (id, conversation_id, filename, mime_type, size, status, uploader_id, blob_key, created_at,
                             media_due_at, scan, scan_due_at)
    values (${id}, ${places[place]}, 'a', 'image/png', 1, 'UPLOADED', ${user}, ${id}, ${at}, ${at}, 'PENDING', ${at})`);
  await database.db.execute(sql`
    insert into link_previews (message_id, conversation_id, url, due_at) values (${id}, ${places[place]}, 'a', ${at})`);
}

type Claim = (db: Db, range: { now: string; until: string; limit: number }) => Promise<object[]>;

/** Whose turn it is, two at a time. */
async function turns(claim: Claim): Promise<string[][]> {
  const found: string[][] = [];
  for (let turn = 0; turn < 3; turn++) {
    const rows = await claim(database.db, { now: time(59), until: time(3_600), limit: 2 });
    found.push(rows.map((row) => String('id' in row ? row.id : 'messageId' in row && row.messageId)).sort());
  }
  return found;
}

test('[ATT-15] who floods a queue that all share waits behind the others, of the same project too', async () => {
  const files = [
    ['neighbour 30', 'other 40'],
    ['flood 0', 'flood 1'],
    ['flood 2', 'flood 3'],
  ];
  assert.deepEqual(await turns(claimMedia), files);
  assert.deepEqual(await turns(claimScans), files);
  assert.deepEqual((await turns(claimLinks)).flat().slice(0, 2), ['flood 0', 'other 40']);
});
