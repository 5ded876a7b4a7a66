import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { addWebhook, record, settle, streamEvents } from '../apps/server/testkit/clients/webhooks.ts';
import type { TestProject } from '../apps/server/testkit/kit/people.ts';
import { startService, type TestService } from '../apps/server/testkit/kit/service.ts';
import { startReceiver } from '../apps/server/testkit/peers/receiver.ts';
import { type Bars, percentile, type Row } from './ratio.ts';
import { type StallDetector, startStallDetector, type Timed } from './stall-detector.ts';

const eventsPerSecond = 1_000;
const perCommit = 10;
const loadSeconds = 5;
const messagesPerSecond = 150;
const roundSeconds = 1.2;
const warmUpSeconds = 0.4;
const rounds = 60;
const usableMin = 20;
/** Less than a round, so that attempts also run out of time within it. */
const timeoutMs = 600;

process.env['PARLEY_TEST_DATABASE_URL'] ??= 'postgres://postgres@127.0.0.1:5432/test';

/** What one side of the comparison saw, round by round. */
interface Side {
  sends: Timed[][];
  delays: Timed[][];
}

/** Delivery delay at 1,000 events a second on one process, and what an endpoint that hangs does to senders and to others. */
export async function rows(): Promise<Row[]> {
  const service = await startService({ env: { WEBHOOK_TIMEOUT_MS: String(timeoutMs) } });
  const child = fork(new URL('./webhook-receiver.ts', import.meta.url), { execArgv: [] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const hanging = await startReceiver('hang');
  const stallDetector = startStallDetector();
  try {
    const project = await service.newProject();
    await addWebhook(project, { url: `http://127.0.0.1:${port}/` });
    const ages = (await loadOfEvents(service, project, child)).map(({ ms }) => ms);
    const { without, beside } = await compare(service, project, child, hanging.url);
    const sends = comparison(stallDetector, without.sends, beside.sends, 0.99);
    const delays = comparison(stallDetector, without.delays, beside.delays, 0.95);
    return [
      {
        question: 'delivery delay p95 at 1,000 events/s, in seconds',
        floor: { atMost: 1 },
        ratio: percentile(ages, 0.95) / 1000,
        figures: { delayP50Ms: percentile(ages, 0.5), delayP95Ms: percentile(ages, 0.95) },
        bars: { unit: 's', sides: { p95: percentile(ages, 0.95) / 1000 } },
        detail: `p50 ${percentile(ages, 0.5).toFixed(0)} ms, p95 ${percentile(ages, 0.95).toFixed(0)} ms, ${ages.length} deliveries`,
      },
      {
        question: 'message send p99 with a hanging endpoint / without',
        floor: { atMost: 1.05 },
        ...sends,
      },
      {
        question: 'delivery delay p95 of another endpoint with a hanging one / without',
        floor: { atMost: 1.1 },
        ...delays,
      },
    ];
  } finally {
    await stallDetector.stop();
    await hanging.close();
    await service.stop();
    child.disconnect();
  }
}

/** Of the rounds of a side, the one that a quarter did better than: not the machine's worst, and not one lucky one. */
function quietRound(
  stallDetector: StallDetector,
  rounds: readonly Timed[][],
  share: number,
): { ms: number; count: number } {
  const unstalled = rounds.map((round) => ({ all: round.length, kept: stallDetector.unstalled(round) }));
  const usable = unstalled.filter(({ all, kept }) => kept.length * 2 > all).map(({ kept }) => percentile(kept, share));
  if (usable.length < usableMin) throw new Error('the machine stalled nearly all the time: try again');
  return { ms: percentile(usable, 0.25), count: usable.length };
}

function comparison(
  stallDetector: StallDetector,
  without: readonly Timed[][],
  beside: readonly Timed[][],
  share: number,
) {
  const sides = {
    without: quietRound(stallDetector, without, share),
    beside: quietRound(stallDetector, beside, share),
  };
  const ms = { without: sides.without.ms, beside: sides.beside.ms };
  const bars: Bars = { unit: 'ms', sides: { 'with one that hangs': ms.beside, without: ms.without } };
  const counts = `${sides.beside.count} and ${sides.without.count}`;
  return {
    ratio: ms.beside / ms.without,
    detail: `${ms.beside.toFixed(1)} ms against ${ms.without.toFixed(1)} ms, lower quartiles of ${counts} of ${rounds} rounds in turns, those in which the machine did not stall, ${messagesPerSecond} messages/s`,
    bars,
  };
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
  const without: Side = { sends: [], delays: [] };
  const beside: Side = { sends: [], delays: [] };
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
  const { sends, delays } = await loadOfMessages(sender, child, roundSeconds);
  side.sends.push(sends);
  side.delays.push(delays);
}

async function loadOfEvents(service: TestService, project: TestProject, child: ChildProcess): Promise<Timed[]> {
  const commits = (eventsPerSecond * loadSeconds) / perCommit;
  const run = async (): Promise<Timed[]> => {
    await paced(commits, eventsPerSecond / perCommit, (index) =>
      record(service, project, streamEvents(perCommit, `${index}_`)),
    );
    return take(child, eventsPerSecond * loadSeconds);
  };
  await run();
  return run();
}

async function loadOfMessages(sender: MessageSender, child: ChildProcess, seconds: number) {
  const sends: Timed[] = [];
  const count = messagesPerSecond * seconds;
  await paced(count, messagesPerSecond, async () => {
    const [at, begun] = [Date.now(), performance.now()];
    await sender.send();
    sends.push({ at, ms: performance.now() - begun });
  });
  return { sends, delays: await take(child, count) };
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

/** So many deliveries. Not until nothing is under way: what hangs is under way for minutes. */
async function take(child: ChildProcess, count: number): Promise<Timed[]> {
  const taken: Timed[] = [];
  while (taken.length < count) {
    const answer = once(child, 'message') as Promise<[{ arrived: Timed[] }]>;
    child.send('take');
    taken.push(...(await answer)[0].arrived);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return taken;
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
