import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { verifyWebhook } from '@parley/server';
import { emit, streamEvents } from '../../../apps/server/testkit/clients/webhooks.ts';
import { eventually } from '../../../apps/server/testkit/kit/eventually.ts';
import type { TestProject } from '../../../apps/server/testkit/kit/people.ts';
import { bareEnv } from '../../../apps/server/testkit/kit/process.ts';
import type { TestService } from '../../../apps/server/testkit/kit/service.ts';
import { sharedService } from '../../../apps/server/testkit/kit/shared-service.ts';
import {
  hasValidSignature,
  hasValidStandardSignature,
  startReceiver,
  type TestReceiver,
} from '../../../apps/server/testkit/peers/receiver.ts';
import { begin, parley } from '../testkit/run.ts';

let service: TestService;
let project: TestProject;
let receiver: TestReceiver;
const children: ChildProcess[] = [];

before(async () => {
  service = await sharedService();
  project = await service.newProject();
  receiver = await startReceiver((_request, index) => (index === 1 ? 500 : 204));
});
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await receiver.close();
});

/** Until a process has started, on a busy machine. */
const patience = { withinMs: 60_000 };
const main = fileURLToPath(new URL('./main.ts', import.meta.url));

/** As a process of its own, which a signal stops. */
function spawned(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...bareEnv(), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  return { child, out: () => out };
}

test('[CLI-1] listen forwards events with the signatures of a real delivery and shows what came of it', async () => {
  const { child, out } = spawned(['listen', '--forward-to', receiver.url], {
    SVC_URL: service.url,
    SVC_API_KEY: project.apiKey,
  });
  const secret = await eventually(() => /Signing secret: (whsec_\S+)/.exec(out())?.[1] ?? false, patience);
  // The stream is open when the first event comes through.
  await eventually(async () => {
    await emit(service, project, streamEvents(1, 'first_'));
    assert.ok(receiver.requests.length > 0);
  }, patience);
  const before = receiver.requests.length;
  await emit(service, project, streamEvents(2, 'second_'));
  await eventually(() => assert.ok(receiver.requests.length >= before + 2));
  for (const request of receiver.requests) {
    assert.ok(hasValidSignature(request, String(secret), Date.now() / 1000));
    assert.ok(hasValidStandardSignature(request, String(secret), Date.now() / 1000));
    const { id, type } = verifyWebhook(request.body, request.headers, String(secret));
    assert.equal(type, 'live_stream.started');
    assert.deepEqual([request.headers['svc-event-id'], request.headers['svc-attempt']], [id, '1']);
    await eventually(() => assert.match(out(), new RegExp(`live_stream\\.started +${id} +(204|500) +\\d+ ms`)));
  }
  child.kill('SIGINT');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('[CLI-1] listen finds what npm start left, and prints JSON when asked', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-cli-'));
  await writeFile(join(folder, 'dev.env'), `export SVC_URL='${service.url}'\nexport SVC_API_KEY='${project.apiKey}'\n`);
  const mine = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const args = [
    'listen',
    '--forward-to',
    receiver.url,
    '--json',
    '--secret',
    mine,
    '--events',
    'live_stream.host_left',
  ];
  const { out, stop } = begin(args, { DATA_DIR: folder });
  t.after(stop);
  const lines = () =>
    out()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  await eventually(() => assert.deepEqual(lines()[0], { from: service.url, to: receiver.url, secret: mine }), patience);
  await eventually(async () => {
    await emit(service, project, streamEvents(1));
    await emit(service, project, [
      { type: 'live_stream.host_left', data: { streamId: 's', identity: 'a', at: '2026-01-01T00:00:00.000Z' } },
    ]);
    assert.ok(lines().length > 1);
  }, patience);
  assert.partialDeepStrictEqual(lines()[1], { type: 'live_stream.host_left', status: 204, error: null });
});

test('[CLI-1] a refused key ends it with the reason, a bad command line with help', async () => {
  const args = ['listen', '--forward-to', receiver.url, '--url', service.url, '--api-key', 'svk_dev_x.y'];
  const refused = await parley(args);
  assert.equal(refused.code, 1);
  assert.match(refused.error, /SVC_INVALID_API_KEY/);
  for (const args of [['listen'], ['listen', '--forward-to', 'nowhere'], ['listen', '--nonsense'], ['sing']]) {
    const { code, error } = await parley(args);
    assert.equal(code, 2, args.join(' '));
    assert.match(error, /Usage: parley/);
  }
  const help = await parley(['--help']);
  assert.equal(help.code, 0);
  assert.match(help.out, /listen/);
});
