import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { TestProject } from '../apps/server/testkit/people.ts';
import { startReceiver } from '../apps/server/testkit/receiver.ts';
import { startService, type TestService } from '../apps/server/testkit/service.ts';
import { addWebhook, record, settle, streamEvents } from '../apps/server/testkit/webhooks.ts';
import type { Bars, Row } from './ratio.ts';

const eventsPerSecond = 1_000;
const perCommit = 10;
const loadSeconds = 5;
const messagesPerSecond = 150;
const roundSeconds = 1;
const warmUpSeconds = 0.2;
const rounds = 50;
/** Less than a round, so that attempts also run out of time within it. */
const timeoutMs = 500;

process.env['PARLEY_TEST_DATABASE_URL'] ??= 'postgres://postgres@127.0.0.1:5432/test';

const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

/**
 * Of all rounds of a side, the one that a quarter did better than. Machines that others share stand still for a tenth of
 * a second now and then, which makes 3 ms into 30: a median is then of the machine, and the best of all is of luck.
 */
const quietRound = (values: readonly number[]): number => percentile(values, 0.25);

/** What one side of the comparison saw, round by round. */
interface Side {
  sendP99s: number[];
  delayP95s: number[];
}

/** Delivery delay at 1,000 events a second on one process, and what an endpoint that hangs does to senders and to others. */
export async function rows(): Promise<Row[]> {
  const service = await startService({ env: { WEBHOOK_TIMEOUT_MS: String(timeoutMs) } });
  const child = fork(new URL('./webhook-receiver.ts', import.meta.url), { execArgv: [] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const hanging = await startReceiver('hang');
  try {
    const project = await service.newProject();
    await addWebhook(project, { url: `http://127.0.0.1:${port}/` });
    const ages = await loadOfEvents(service, project, child);
    const { without, beside } = await compare(service, project, child, hanging.url);
    const ratio = (name: keyof Side): number => quietRound(beside[name]) / quietRound(without[name]);
    const told = (name: keyof Side): string =>
      `${quietRound(beside[name]).toFixed(1)} ms against ${quietRound(without[name]).toFixed(1)} ms, lower quartiles of ${rounds} rounds in turns, ${messagesPerSecond} messages/s`;
    const bars = (name: keyof Side): Bars => ({
      unit: 'ms',
      sides: { 'with one that hangs': quietRound(beside[name]), without: quietRound(without[name]) },
    });
    return [
      {
        question: 'delivery delay p95 at 1,000 events/s, in seconds',
        floor: { atMost: 1 },
        ratio: percentile(ages, 0.95) / 1000,
        figures: { delayP50Ms: percentile(ages, 0.5), delayP95Ms: percentile(ages, 0.95) },
        bars: { unit: 's', sides: { p95: percentile(ages, 0.95) / 1000 } },
        detail: `p50 ${percentile(ages, 0.5)} ms, p95 ${percentile(ages, 0.95)} ms, ${ages.length} deliveries`,
      },
      {
        question: 'message send p99 with a hanging endpoint / without',
        floor: { atMost: 1.05 },
        ratio: ratio('sendP99s'),
        detail: told('sendP99s'),
        bars: bars('sendP99s'),
      },
      {
        question: 'delivery delay p95 of another endpoint with a hanging one / without',
        floor: { atMost: 1.1 },
        ratio: ratio('delayP95s'),
        detail: told('delayP95s'),
        bars: bars('delayP95s'),
      },
    ];
  } finally {
    await hanging.close();
    await service.stop();
    child.disconnect();
  }
}

/**
 * The same load with the endpoint that hangs and without it, in turns and each as often first, so that a busy machine
 * hits both alike. What hung in one round is over before the next begins, and neither begins from rest.
 */
async function compare(service: TestService, project: TestProject, child: ChildProcess, hangingUrl: string) {
  const { id: room } = await project.api.call('createConversation', { body: { name: 'talk' } });
  const sender = createSender(service, project, room);
  const { id: webhookId } = await addWebhook(project, { url: hangingUrl });
  const at = { projectId: project.id, webhookId };
  const without: Side = { sendP99s: [], delayP95s: [] };
  const beside: Side = { sendP99s: [], delayP95s: [] };
  const measureWithout = async (): Promise<void> => {
    await project.owner.api.call('disableWebhook', at);
    await settle(service);
    await measure(without, sender, child);
  };
  const measureBeside = async (): Promise<void> => {
    await project.owner.api.call('enableWebhook', at);
    await measure(beside, sender, child);
  };
  for (let round = 0; round < rounds; round++) {
    const turns = [measureWithout, measureBeside];
    for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
  }
  sender.close();
  return { without, beside };
}

async function measure(side: Side, sender: MessageSender, child: ChildProcess): Promise<void> {
  await loadOfMessages(sender, child, warmUpSeconds);
  const { sendsMs, agesMs } = await loadOfMessages(sender, child, roundSeconds);
  side.sendP99s.push(percentile(sendsMs, 0.99));
  side.delayP95s.push(percentile(agesMs, 0.95));
}

async function loadOfEvents(service: TestService, project: TestProject, child: ChildProcess): Promise<number[]> {
  const commits = (eventsPerSecond * loadSeconds) / perCommit;
  const run = async (): Promise<number[]> => {
    await paced(commits, eventsPerSecond / perCommit, (index) =>
      record(service, project, streamEvents(perCommit, `${index}_`)),
    );
    return take(child, eventsPerSecond * loadSeconds);
  };
  await run();
  return run();
}

async function loadOfMessages(sender: MessageSender, child: ChildProcess, seconds: number) {
  const sendsMs: number[] = [];
  const count = messagesPerSecond * seconds;
  await paced(count, messagesPerSecond, async () => {
    const begun = performance.now();
    await sender.send();
    sendsMs.push(performance.now() - begun);
  });
  return { sendsMs, agesMs: await take(child, count) };
}

/** Starts `count` pieces of work at a fixed pace, whatever each of them takes. */
async function paced(count: number, perSecond: number, work: (index: number) => Promise<void>): Promise<void> {
  const started = performance.now();
  const running: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    const wait = started + (index * 1000) / perSecond - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    running.push(work(index));
  }
  await Promise.all(running);
}

/** The ages of so many deliveries. Not until nothing is under way: what hangs is under way for minutes. */
async function take(child: ChildProcess, count: number): Promise<number[]> {
  const agesMs: number[] = [];
  while (agesMs.length < count) {
    const answer = once(child, 'message') as Promise<[{ agesMs: number[] }]>;
    child.send('take');
    agesMs.push(...(await answer)[0].agesMs);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return agesMs;
}

interface MessageSender {
  send(): Promise<void>;
  close(): void;
}

function createSender({ url }: TestService, { apiKey }: TestProject, room: string): MessageSender {
  const agent = new Agent({ keepAlive: true });
  const body = JSON.stringify({ text: 'hello there', senderId: 'alice' });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  return {
    send: () =>
      new Promise((resolve, reject) => {
        const sent = request(
          `${url}/v1/chat/conversations/${room}/messages`,
          { method: 'POST', agent, headers },
          (response) => {
            response.resume();
            response.on('end', () =>
              response.statusCode === 201 ? resolve() : reject(new Error(`answered ${response.statusCode}`)),
            );
          },
        );
        sent.on('error', reject);
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}
