import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readDevEnv, writeDevEnv } from './dev-env.ts';

const values = {
  SVC_URL: 'http://localhost:4000',
  SVC_API_KEY: 'key',
  SVC_PROJECT_ID: 'project',
  SVC_DEV_EMAIL: 'dev@localhost',
  SVC_DEV_PASSWORD: 'password',
  SVC_WEBHOOK_SECRET: 'secret',
  SFU_REGISTRATION_SECRET: 'another',
};

test('[DEP-11] dev.env makes its folder, for its owner only', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'parley-dev-env-'));
  const folder = join(parent, 'not', 'yet');
  try {
    writeDevEnv(folder, values);
    assert.deepEqual(readDevEnv(folder), values);
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
    assert.equal((await stat(join(folder, 'dev.env'))).mode & 0o777, 0o600);
  } finally {
    await rm(parent, { recursive: true });
  }
});
