import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createPeople } from '../kit/people.ts';
import { ownPort } from '../kit/ports.ts';
import { bareEnv, brief } from '../kit/process.ts';
import { hasValidSignature } from '../peers/receiver.ts';
import type { DeliveryPair, DeliveryProgress } from './delivery-pairs.ts';
import type { StormOrder } from './storm-process.ts';

interface StormOptions {
  events: number;
  endpoints: number;
  /** How likely a receiver is to refuse, at random. */
  failureRate: number;
  /** How often a process is killed with -9. */
  kills: number;
  /** Processes at a time, each on the same database; 1 on an embedded one. */
  processes: number;
  backoffBaseMs: number;
  env: Record<string, string>;
  log?: (line: string) => void;
}

interface StormResult {
  /** Pairs of event and endpoint by what became of them; `lost` has no delivery or one that is still open. */
  delivered: number;
  failed: number;
  lost: number;
  requests: number;
  kills: number;
  badSignatures: number;
  /** Requests for the same pair that came sooner after each other than the wait between those attempts. */
  early: number;
  /** More requests for one pair than there are attempts. */
  excess: number;
  /** DELIVERED although no 2xx was ever answered, or FAILED before the sixth attempt. */
  mistold: number;
  seconds: number;
}

interface Arrival {
  atMs: number;
  isGood: boolean;
}

/** What the receivers saw, by endpoint and event. */
export type Seen = Map<string, Arrival[]>;

const attemptsMax = 6;
const childFile = fileURLToPath(new URL('./storm-process.ts', import.meta.url));

interface Node {
  child: ChildProcess;
  url: string;
  ask<T>(order: StormOrder): Promise<T>;
  kill(): Promise<void>;
}

async function startNode(env: Record<string, string>): Promise<Node> {
  const child = fork(childFile, {
    env: {
      ...bareEnv(),
      PORT: String(await ownPort()),
      ...env,
    },
    execArgv: brief(),
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  child.on('message', ({ id, answer, error }: { id: number; answer: unknown; error?: string }) => {
    if (error === undefined) waiting.get(id)?.resolve(answer);
    else waiting.get(id)?.reject(new Error(error));
    waiting.delete(id);
  });
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('killed'));
  });
  return {
    child,
    url,
    ask<T>(order: StormOrder): Promise<T> {
      const waiter = Promise.withResolvers<unknown>();
      const id = ++lastId;
      waiting.set(id, waiter);
      child.send({ ...order, id });
      return waiter.promise as Promise<T>;
    },
    async kill() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Events × endpoints, receivers that fail at random and processes that are killed: what became of every pair. */
export async function runStorm(options: StormOptions): Promise<StormResult> {
  const { events, endpoints, failureRate, kills, processes, backoffBaseMs, log = () => {} } = options;
  const env = { ...options.env, WEBHOOK_BACKOFF_BASE_MS: String(backoffBaseMs), LOG_LEVEL: 'silent' };
  const startedMs = performance.now();
  const nodes = [await startNode(env)];
  while (nodes.length < processes) nodes.push(await startNode(env));
  const first = (): Node => nodes[0] as Node;

  const project = await createPeople(first().url).newProject();
  const seen: Seen = new Map();
  const counts = { requests: 0, badSignatures: 0 };
  const secrets = new Map<string, string>();
  const servers: Server[] = [];
  for (let index = 0; index < endpoints; index++) {
    const name = String(index);
    const server = await startCounting(name, { seen, counts, secrets, failureRate });
    servers.push(server);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}`;
    const { id, secret } = await project.owner.api.call('createWebhook', { projectId: project.id, body: { url } });
    secrets.set(name, secret);
    secrets.set(`id/${name}`, id);
  }

  let emitted = 0;
  let killed = 0;
  const chunk = Math.max(50, Math.ceil(events / (kills + 2) / 4));
  while (emitted < events || killed < kills) {
    const count = Math.min(chunk, events - emitted);
    const victim = nodes[killed % nodes.length] as Node;
    const order = { order: 'emit', projectId: project.id, count, prefix: `${emitted}_${killed}_` } as const;
    // What was recorded before a kill is judged too, as the table of events has it; it is not counted.
    const recording = victim.ask(order).then(
      () => count,
      () => 0,
    );
    const isKillDue = killed < kills && emitted >= (events / (kills + 1)) * killed;
    if (isKillDue) {
      // In the middle of it: recording, queueing, claiming and posting are all under way.
      await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 600));
      await victim.kill();
      killed++;
      nodes[nodes.indexOf(victim)] = await startNode(env);
      log(`killed ${killed} of ${kills}`);
    }
    emitted += await recording;
  }

  await drained(first, log);
  const pairs = await readPairs(first(), project.id);
  for (const node of nodes) await node.kill();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  const names = new Map([...Array(endpoints).keys()].map((index) => [secrets.get(`id/${index}`) ?? '', String(index)]));
  return {
    ...verifyPairs(pairs, seen, names, backoffBaseMs),
    ...counts,
    kills: killed,
    seconds: (performance.now() - startedMs) / 1000,
  };
}

export async function startCounting(
  name: string,
  {
    seen,
    counts,
    secrets,
    failureRate,
  }: {
    seen: Seen;
    counts: { requests: number; badSignatures: number };
    secrets: ReadonlyMap<string, string>;
    failureRate: number;
  },
): Promise<Server> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (part) => chunks.push(part));
    request.on('end', () => {
      const atMs = Date.now();
      const body = Buffer.concat(chunks);
      counts.requests++;
      const received = { path: '', headers: request.headers, body, atMs };
      if (!hasValidSignature(received, secrets.get(name) ?? '', atMs / 1000)) counts.badSignatures++;
      const isGood = Math.random() >= failureRate;
      const key = `${name}/${JSON.parse(body.toString()).id}`;
      seen.set(key, [...(seen.get(key) ?? []), { atMs, isGood }]);
      response.writeHead(isGood ? 204 : 500).end();
    });
    request.on('error', () => {});
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

async function drained(node: () => Node, log: (line: string) => void): Promise<void> {
  for (;;) {
    const { events, undispatched, open } = await node().ask<DeliveryProgress>({ order: 'progress' });
    log(`${events} events, ${undispatched} not queued yet, ${open} deliveries open`);
    if (undispatched === 0 && open === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function readPairs(node: Node, projectId: string): Promise<DeliveryPair[]> {
  const pairs: DeliveryPair[] = [];
  for (let after = ''; ; ) {
    const page = await node.ask<DeliveryPair[]>({ order: 'pairs', projectId, after, limit: 500 });
    if (page.length === 0) return pairs;
    pairs.push(...page);
    after = page.at(-1)?.eventId ?? '';
  }
}

/** Holds what became of each pair against what arrived. */
export function verifyPairs(
  pairs: readonly DeliveryPair[],
  seen: Seen,
  names: ReadonlyMap<string, string>,
  backoffBaseMs: number,
) {
  const result = { delivered: 0, failed: 0, lost: 0, early: 0, excess: 0, mistold: 0 };
  for (const { eventId, webhookId, status, attempts } of pairs) {
    const arrivals = seen.get(`${names.get(webhookId)}/${eventId}`) ?? [];
    const hasGood = arrivals.some(({ isGood }) => isGood);
    if (status === 'DELIVERED') result.delivered++;
    else if (status === 'FAILED') result.failed++;
    else result.lost++;
    if ((status === 'DELIVERED' && !hasGood) || (status === 'FAILED' && attempts !== attemptsMax)) result.mistold++;
    if (arrivals.length > attemptsMax) result.excess++;
    arrivals.slice(1).forEach(({ atMs }, index) => {
      // A receiver's clock counts whole milliseconds: two readings may be one short of the time between them.
      if (atMs - (arrivals[index]?.atMs ?? 0) < backoffBaseMs * 2 ** index - 1) result.early++;
    });
  }
  return result;
}
