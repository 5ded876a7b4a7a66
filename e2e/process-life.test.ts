import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { ownPort } from '../apps/server/testkit/kit/ports.ts';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { runKillRounds } from './kill-rounds.ts';
import { failedStart } from './starts.ts';

test('[RUN-2] what stops a start is one sentence that says what to do', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { port: number };
  const cases: [Record<string, string>, RegExp][] = [
    [
      { PORT: String(port) },
      new RegExp(`^Port ${port} is in use by another process\\. Use PORT=${port + 1} npm start\\.$`),
    ],
    [{ PORT: 'http' }, /^PORT must be a port from 1 to 65535, not "http"\.$/],
    [{ CHAT_MAX_TEXT_LENGHT: '5' }, /^CHAT_MAX_TEXT_LENGHT is not a setting\. Did you mean CHAT_MAX_TEXT_LENGTH\?$/],
    [{ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }, /^The database in DATABASE_URL does not answer\./],
    [{ NODE_ENV: 'production' }, /^PUBLIC_URL must be set in production\./m],
  ];
  const check = async ([variables, expected]: (typeof cases)[number]): Promise<void> => {
    const dataDir = await newDataDir();
    const { code, text } = await failedStart({ PORT: String(await ownPort()), DATA_DIR: dataDir, ...variables });
    await rm(dataDir, { recursive: true, force: true });
    assert.equal(code, 1, text);
    assert.match(text, expected);
    assert.ok(!/\n\s+at /.test(text), `a stack is not a sentence: ${text}`);
  };
  await Promise.all(cases.map(check)).finally(() => taken.close());
});

test('[RUN-27] in production a media node that cannot have its port stops the server with a sentence', async () => {
  const taken = createSocket('udp6');
  await new Promise<void>((resolve) => taken.bind(0, resolve));
  const [dataDir, udpPort] = [await newDataDir(), taken.address().port];
  const { code, text } = await failedStart({
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://calls.example.com',
    SECRET_KEY: randomBytes(36).toString('base64'),
    SFU_REGISTRATION_SECRET: randomBytes(36).toString('base64'),
    SFU_EMBEDDED: 'true',
    SFU_ANNOUNCED_HOST: '127.0.0.1',
    SFU_UDP_PORT: String(udpPort),
    SFU_INTERNAL_PORT: String(await ownPort()),
    SFU_PROCESSES: '1',
    HOST: '127.0.0.1',
    PORT: String(await ownPort()),
    DATA_DIR: dataDir,
    LOG_LEVEL: 'silent',
  });
  taken.close();
  await rm(dataDir, { recursive: true, force: true });
  assert.equal(code, 1, text);
  assert.match(text, new RegExp(`^The media node cannot start\\. .*UDP port ${udpPort} cannot be opened`, 'm'));
});

/** Again and again it is killed by tools/proof/kill-rounds.ts and embedded.test.ts; on PostgreSQL it is proven by two-processes.test.ts. */
test('[STO-1] kill -9 in the middle of writes: nothing acknowledged is lost', async () => {
  const [dataDir, rounds] = [await newDataDir(), 1];
  try {
    const { acknowledged, lost } = await runKillRounds(rounds, { DATA_DIR: dataDir });
    assert.deepEqual(lost, []);
    assert.ok(acknowledged >= rounds * 10, `only ${acknowledged} writes were acknowledged: the test proves little`);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
