import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { isWhole } from '../apps/server/testkit/kit/part.ts';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { runStorm } from '../apps/server/testkit/proofs/webhook-storm.ts';

/** The full size is tools/proof/webhook-storm.ts. */
const kills = isWhole ? 2 : 1;

test('[WH-8] killed processes and failing receivers lose no event for any endpoint, and hurry none', async () => {
  const dataDir = await newDataDir();
  const database = process.env['PARLEY_TEST_DATABASE_URL'] ? await openTestDatabase() : null;
  try {
    const result = await runStorm({
      events: 60,
      endpoints: 3,
      failureRate: 0.3,
      kills,
      processes: database === null ? 1 : 3,
      backoffBaseMs: 100,
      env: {
        DATA_DIR: dataDir,
        WEBHOOK_TIMEOUT_MS: '1000',
        SECRET_KEY: 'a key that the processes of this test share',
        SFU_REGISTRATION_SECRET: 'a secret that the processes of this test share',
        ...(database?.url ? { DATABASE_URL: database.url } : {}),
      },
    });
    assert.partialDeepStrictEqual(result, { lost: 0, early: 0, excess: 0, mistold: 0, badSignatures: 0, kills });
    assert.ok(result.delivered + result.failed >= 60 * 3, JSON.stringify(result));
  } finally {
    await database?.close();
    await rm(dataDir, { recursive: true, force: true });
  }
});
