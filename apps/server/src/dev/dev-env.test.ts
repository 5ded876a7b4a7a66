import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Svc } from '@parley/server';
import { sharedService } from '../../testkit/kit/shared-service.ts';
import { demoName, seedDemo } from './demo-data.ts';
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

test('[RUN-5] a demo that was being filled when its process was killed is filled by the next start, nothing twice', async () => {
  const service = await sharedService();
  const { apiKey } = await service.newProject();
  /** Answers so many requests and no more, as far as its process can tell. */
  const start = (requests: number) =>
    seedDemo(
      new Svc({
        apiKey,
        baseUrl: service.url,
        maxRetries: 0,
        fetch: async (input, init) => {
          if (requests-- === 0) throw new TypeError('killed');
          return fetch(input, init);
        },
      }),
      1_000,
    );
  // Room and conversation take four; the kills are after none, some and all of the messages.
  await start(4);
  for (const requests of [9, 17]) await assert.rejects((await start(requests))());
  await (await start(100))();
  const svc = new Svc({ apiKey, baseUrl: service.url });
  const { messages } = await svc.chat.messages.list(demoName, { includeDeleted: true });
  const streams = await svc.liveStreams.list();
  assert.deepEqual([messages.length, streams.length], [10, 1]);
  await svc.chat.messages.delete(messages[0]?.id ?? '');
  await (await start(2))();
});
