import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { startReceiver } from '../apps/server/testkit/receiver.ts';
import { startService } from '../apps/server/testkit/service.ts';
import { addWebhook, record, streamEvents } from '../apps/server/testkit/webhooks.ts';
import type { Row } from './ratio.ts';

const perSecond = 1_000;
const seconds = 5;
const perCommit = 10;

process.env['PARLEY_TEST_DATABASE_URL'] ??= 'postgres://postgres@127.0.0.1:5432/test';

interface Measured {
  agesMs: number[];
  commitsMs: number[];
}

const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

/** Delivery delay at 1,000 events a second on one process, and what an endpoint that hangs does to it and to the writers. */
export async function rows(): Promise<Row[]> {
  const service = await startService();
  const child = fork(new URL('./webhook-receiver.ts', import.meta.url), { execArgv: [] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const hanging = await startReceiver('hang');
  try {
    const project = await service.newProject();
    await addWebhook(project, { url: `http://127.0.0.1:${port}/` });
    await load(service, project, child);
    const alone = await load(service, project, child);
    await addWebhook(project, { url: hanging.url });
    const beside = await load(service, project, child);
    const [delay, delayBeside] = [alone, beside].map(({ agesMs }) => percentile(agesMs, 0.95)) as [number, number];
    const [commit, commitBeside] = [alone, beside].map(({ commitsMs }) => percentile(commitsMs, 0.99)) as [
      number,
      number,
    ];
    return [
      {
        question: 'delivery delay p95 at 1,000 events/s, in seconds',
        floor: { atMost: 1 },
        ratio: delay / 1000,
        detail: `p50 ${percentile(alone.agesMs, 0.5)} ms, p95 ${delay} ms, ${alone.agesMs.length} deliveries`,
      },
      {
        question: 'write p99 with a hanging endpoint / without',
        floor: { atMost: 1.05 },
        ratio: commitBeside / commit,
        detail: `${commitBeside.toFixed(1)} ms against ${commit.toFixed(1)} ms for a transaction of ${perCommit} events`,
      },
      {
        question: 'other endpoints` delay p95 with a hanging one / without',
        floor: { atMost: 1.25 },
        ratio: delayBeside / delay,
        detail: `${delayBeside} ms against ${delay} ms`,
      },
    ];
  } finally {
    await hanging.close();
    await service.stop();
    child.disconnect();
  }
}

async function load(
  service: Awaited<ReturnType<typeof startService>>,
  project: Awaited<ReturnType<typeof service.newProject>>,
  child: ChildProcess,
): Promise<Measured> {
  const commitsMs: number[] = [];
  const everyMs = (1000 * perCommit) / perSecond;
  const started = performance.now();
  const writes: Promise<void>[] = [];
  for (let index = 0; index < (perSecond * seconds) / perCommit; index++) {
    const wait = started + index * everyMs - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const begun = performance.now();
    writes.push(
      record(service, project, streamEvents(perCommit, `${index}_`)).then(() => {
        commitsMs.push(performance.now() - begun);
      }),
    );
  }
  await Promise.all(writes);
  const agesMs: number[] = [];
  // Not until nothing is under way: what hangs is under way for minutes.
  while (agesMs.length < perSecond * seconds) {
    const answer = once(child, 'message') as Promise<[{ agesMs: number[] }]>;
    child.send('take');
    agesMs.push(...(await answer)[0].agesMs);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { commitsMs, agesMs };
}
