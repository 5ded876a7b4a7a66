import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  addWebhook,
  emit,
  readDeliveries,
  readWebhook,
  settle,
  streamEvents,
} from '../../../testkit/clients/webhooks.ts';
import { createFakeClock, type FakeClock } from '../../../testkit/kit/fake-clock.ts';
import { isWhole } from '../../../testkit/kit/part.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { hasValidSignature, startReceiver, type TestReceiver } from '../../../testkit/peers/receiver.ts';
import { sql } from '../../core/sql.ts';

let clock: FakeClock;
let service: TestService;
const receivers: TestReceiver[] = [];

before(async () => {
  clock = createFakeClock();
  service = await startService({ clock });
});
after(async () => {
  await Promise.all(receivers.map((receiver) => receiver.close()));
  await service.stop();
});

const receive = async (answer: TestReceiver['answer']): Promise<TestReceiver> => {
  const receiver = await startReceiver(answer, { now: clock.now });
  receivers.push(receiver);
  return receiver;
};

/** Time passes (a session lasts 15 minutes, so not for long), and what comes due at the end of each wait is done before the next begins. */
async function pass(...waits: readonly number[]): Promise<void> {
  for (const seconds of waits) {
    await clock.advance(seconds * 1_000);
    await settle(service);
  }
}

test('[WH-4] six attempts: at once, then 10, 20, 40, 80 and 160 seconds after each failure, to the second', async () => {
  const project = await service.newProject();
  const receiver = await receive(500);
  const webhook = await addWebhook(project, { url: receiver.url });
  const startedMs = clock.now();
  await emit(service, project, streamEvents(1));

  await clock.advance(9_999);
  await settle(service);
  assert.equal(receiver.requests.length, 1, 'nothing a millisecond early');
  await clock.advance(1);
  await settle(service);
  assert.equal(receiver.requests.length, 2);
  const [afterSecond] = await readDeliveries(project, webhook.id);
  assert.equal(afterSecond?.status, 'RETRYING');
  assert.equal(Date.parse(afterSecond?.nextAttemptAt ?? ''), startedMs + 30_000);
  // Between two attempts, at the moment of each, and after the last.
  await pass(10, 10, 30, 10, 40, 40, 80, 80, 20);

  assert.deepEqual(
    receiver.requests.map(({ atMs }) => (atMs - startedMs) / 1000),
    [0, 10, 30, 70, 150, 310],
  );
  assert.deepEqual(
    receiver.requests.map(({ headers }) => headers['svc-attempt']),
    ['1', '2', '3', '4', '5', '6'],
  );
  assert.equal(new Set(receiver.requests.map(({ headers }) => headers['svc-event-id'])).size, 1);
  assert.equal(new Set(receiver.requests.map(({ body }) => body.toString('hex'))).size, 1, 'the same bytes each time');
  // Each attempt is fresh: the last comes 310 s after the first, and receivers refuse what is older than 300.
  for (const request of receiver.requests) {
    assert.match(String(request.headers['svc-signature']), new RegExp(`^t=${Math.floor(request.atMs / 1000)},`));
    assert.ok(hasValidSignature(request, webhook.secret, request.atMs / 1000));
  }
  const [delivery] = await readDeliveries(project, webhook.id);
  assert.partialDeepStrictEqual(delivery, { status: 'FAILED', attempts: 6, nextAttemptAt: null, lastStatusCode: 500 });
  assert.deepEqual(
    delivery?.attemptLog.map(({ number, at }) => [number, (Date.parse(at) - startedMs) / 1000]),
    [0, 10, 30, 70, 150, 310].map((seconds, index) => [index + 1, seconds]),
  );
});

test('[WH-4] a success on the way ends the retries', async () => {
  const project = await service.newProject();
  const receiver = await receive((_request, index) => (index < 3 ? 503 : 200));
  const webhook = await addWebhook(project, { url: receiver.url });
  await emit(service, project, streamEvents(1));
  await pass(10, 20, 40, 30);
  assert.equal(receiver.requests.length, 4);
  const [delivery] = await readDeliveries(project, webhook.id);
  assert.partialDeepStrictEqual(delivery, { status: 'DELIVERED', attempts: 4, lastStatusCode: 200, lastError: null });
});

test('[WH-6] no complete answer within 5000 ms is a failure, and the wait starts after it', async () => {
  for (const misbehaviour of ['hang', 'drip'] as const) {
    const project = await service.newProject();
    const receiver = await receive(misbehaviour);
    const webhook = await addWebhook(project, { url: receiver.url });
    const startedMs = clock.now();
    const emitted = emit(service, project, streamEvents(1));
    while (receiver.requests.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
    await clock.advance(4_999);
    assert.partialDeepStrictEqual((await readDeliveries(project, webhook.id))[0], {
      status: 'PENDING',
      attemptLog: [],
    });
    await clock.advance(1);
    await emitted;
    const [delivery] = await readDeliveries(project, webhook.id);
    assert.partialDeepStrictEqual(delivery, {
      status: 'RETRYING',
      attempts: 1,
      lastStatusCode: null,
      lastError: 'No complete answer within 5000 ms.',
      lastDurationMs: 5000,
    });
    assert.equal(Date.parse(delivery?.nextAttemptAt ?? ''), startedMs + 15_000);
    await project.owner.api.call('deleteWebhook', { projectId: project.id, webhookId: webhook.id });
  }
});

test('[WH-8] an attempt that died with its process counts, is shown, and the last one ends the delivery', async () => {
  const project = await service.newProject();
  const receiver = await receive(500);
  const webhook = await addWebhook(project, { url: receiver.url });
  await emit(service, project, streamEvents(1));
  const { db } = service.adapters;
  /** What a killed process leaves: the attempt is counted, nothing is logged, and the row is due when it would be. */
  const interrupt = async () => {
    await db.execute(sql`update deliveries set attempts = attempts + 1, due_at = ${new Date(clock.now()).toISOString()},
                           claimed_until = ${new Date(clock.now()).toISOString()} where webhook_id = ${webhook.id}`);
    await settle(service);
    const [delivery] = await readDeliveries(project, webhook.id);
    return delivery;
  };
  const interrupted = /^The attempt was interrupted on our side/;
  const after = await interrupt();
  assert.partialDeepStrictEqual(after, { status: 'RETRYING', attempts: 3 });
  assert.deepEqual(
    after?.attemptLog.map(({ number }) => number),
    [1, 2, 3],
  );
  assert.match(after?.attemptLog[1]?.error ?? '', interrupted);
  assert.deepEqual(
    receiver.requests.map(({ headers }) => headers['svc-attempt']),
    ['1', '3'],
  );
  await interrupt();
  const ended = await interrupt();
  assert.partialDeepStrictEqual(ended, { status: 'FAILED', attempts: 6, nextAttemptAt: null });
  assert.match(ended?.lastError ?? '', interrupted);
  assert.ok(Date.parse(ended?.attemptLog.at(-1)?.at ?? '') <= clock.now());
  assert.equal(
    (await readWebhook(project, webhook.id)).consecutiveFailures,
    3,
    'only what the endpoint answered counts',
  );
});

test('[WH-5] one success at 49 failures starts the count again; the fiftieth in a row disables', async () => {
  const project = await service.newProject();
  const receiver = await receive(500);
  const webhook = await addWebhook(project, { url: receiver.url, events: ['live_stream.started'] });
  const fail = async (count: number) => {
    receiver.answer = 500;
    await emit(service, project, streamEvents(count));
  };
  await fail(49);
  assert.partialDeepStrictEqual(await readWebhook(project, webhook.id), { status: 'ENABLED', consecutiveFailures: 49 });
  receiver.answer = 204;
  await emit(service, project, streamEvents(1));
  assert.partialDeepStrictEqual(await readWebhook(project, webhook.id), {
    status: 'ENABLED',
    consecutiveFailures: 0,
    lastError: null,
  });
  await fail(49);
  assert.partialDeepStrictEqual(await readWebhook(project, webhook.id), { status: 'ENABLED', consecutiveFailures: 49 });
  await fail(1);
  assert.partialDeepStrictEqual(await readWebhook(project, webhook.id), {
    status: 'AUTO_DISABLED',
    consecutiveFailures: 50,
    disabledAt: new Date(clock.now()).toISOString(),
    lastError: 'The endpoint answered 500.',
  });
});

test('[WH-5] a disabled endpoint gets nothing; enabling clears the count and resumes what waited', async () => {
  const project = await service.newProject();
  const receiver = await receive(500);
  const listener = await receive(204);
  const webhook = await addWebhook(project, { url: receiver.url, events: ['live_stream.started'] });
  await addWebhook(project, { url: listener.url, events: ['webhook.disabled'] });
  await emit(service, project, streamEvents(50));
  assert.equal((await readWebhook(project, webhook.id)).status, 'AUTO_DISABLED');
  assert.equal(receiver.requests.length, 50);
  assert.equal(listener.requests.length, 1);
  assert.partialDeepStrictEqual(JSON.parse(listener.requests[0]?.body.toString() ?? ''), {
    type: 'webhook.disabled',
    data: {
      webhookId: webhook.id,
      url: receiver.url,
      consecutiveFailures: 50,
      lastError: 'The endpoint answered 500.',
    },
  });

  // What happens now is kept for it, and nothing is sent, however long it takes.
  await emit(service, project, streamEvents(5, 'later_'));
  await pass(10, 90);
  assert.equal(receiver.requests.length, 50);
  const paused = await readDeliveries(project, webhook.id);
  assert.deepEqual(
    [
      paused.filter(({ status }) => status === 'PENDING').length,
      paused.filter(({ status }) => status === 'RETRYING').length,
    ],
    [5, 50],
  );
  assert.ok(paused.every(({ nextAttemptAt }) => nextAttemptAt === null));

  receiver.answer = 200;
  const enabled = await project.owner.api.call('enableWebhook', { projectId: project.id, webhookId: webhook.id });
  assert.partialDeepStrictEqual(enabled, { status: 'ENABLED', consecutiveFailures: 0, disabledAt: null });
  await settle(service);
  assert.ok((await readDeliveries(project, webhook.id)).every(({ status }) => status === 'DELIVERED'));
  assert.equal(receiver.requests.length, 105);
});

test('[WH-5] fifty failures that race over three processes disable once', async () => {
  const others = [await startService({ clock, beside: service }), await startService({ clock, beside: service })];
  const all = [service, ...others];
  try {
    for (let round = 0; round < (isWhole ? 3 : 1); round++) {
      const project = await service.newProject();
      const receiver = await receive({ status: 500, afterMs: 5 });
      const listener = await receive(204);
      const webhook = await addWebhook(project, { url: receiver.url, events: ['live_stream.started'] });
      await addWebhook(project, { url: listener.url, events: ['webhook.disabled'] });
      await emit(service, project, streamEvents(40));
      assert.equal((await readWebhook(project, webhook.id)).consecutiveFailures, 40);
      // Forty retries fall due at one moment, and every process reaches for them.
      await clock.advance(10_000);
      await settle(...all);
      const { status, consecutiveFailures } = await readWebhook(project, webhook.id);
      assert.equal(status, 'AUTO_DISABLED');
      assert.equal(listener.requests.length, 1, 'exactly one webhook.disabled');
      // The count stands still once the endpoint is disabled; only a batch that reaches 50 may go past it.
      assert.ok(consecutiveFailures >= 50 && consecutiveFailures <= 80, String(consecutiveFailures));
    }
  } finally {
    for (const other of others) await other.stop();
  }
});
