import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LiveStream } from '@parley/contract';
import { processCpuMs } from '../apps/server/testkit/kit/cpu.ts';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import type { TestProject } from '../apps/server/testkit/kit/people.ts';
import { startService, type TestService } from '../apps/server/testkit/kit/service.ts';
import { startTestNode, type TestNode } from '../apps/sfu/testkit/node.ts';
import type { AudienceRequest } from './audience-peers.ts';

interface AudienceOptions {
  /** How many try to watch, and how many may. */
  viewers: number;
  ceiling: number;
  /** Of the node; those who join take turns in them. */
  processes: number;
  packetsPerSecond: number;
  bytes: number;
  measureMs: number;
}

interface AudienceResult {
  admitted: number;
  /** How often each code refused somebody. */
  refused: Record<string, number>;
  /** As the stream's record says. */
  viewerCount: number | null;
  /** Packets that came in the measured time: at the worst viewer, at all together, and as many as were sent to all. */
  fewest: number;
  received: number;
  expected: number;
  /** CPU time of the media processes for each second and viewer, in milliseconds; null where the system does not tell. */
  cpuMsPerViewer: number | null;
  /** Reasons for which stays ended. */
  ends: Record<string, number>;
  endMs: number;
}

/** One stream on one node: a host, and more viewers than may watch, all real peers. Then the stream is ended. */
export async function runAudience(options: AudienceOptions): Promise<AudienceResult> {
  const service = await startService({
    env: { LIVE_STREAM_MAX_VIEWERS: String(options.ceiling), SIGNALING_MAX_CONNECTIONS_PER_WINDOW: '100000' },
  });
  const node = await startNode(service, options.processes);
  const peers = fork(new URL('./audience-peers.ts', import.meta.url));
  try {
    return await play(options, service, node, peers);
  } finally {
    peers.disconnect();
    await node.stop();
    await service.stop();
  }
}

async function startNode(service: TestService, processes: number): Promise<TestNode> {
  const [secret = ''] = service.config.sfuSecrets;
  const env = { CONTROL_URL: service.url, SFU_REGISTRATION_SECRET: secret, SFU_ANNOUNCED_HOST: '127.0.0.1' };
  return startTestNode({ ...env, SFU_PROCESSES: String(processes), SFU_ROOM_SPREAD_PERCENT: '0' }, true);
}

async function play(
  { viewers, packetsPerSecond, bytes, measureMs }: AudienceOptions,
  service: TestService,
  node: TestNode,
  peers: ChildProcess,
): Promise<AudienceResult> {
  const project = await service.newProject();
  const { url } = service;
  const stream = await project.api.call('createLiveStream', { body: { title: 'Crowd', hostIdentity: 'ada' } });
  const streamId = stream.id;
  const { rtc } = await project.api.call('registerHost', { streamId, body: { identity: 'ada' } });
  await project.api.call('startLiveStream', { streamId });
  await ask(peers, { kind: 'publish', url, token: rtc.token, packetsPerSecond, bytes });
  const tokens = await mintViewers(service, project, stream, viewers);
  const outcomes = (await ask(peers, { kind: 'watch', url, tokens })) as (string | null)[];
  const counts = async () => (await ask(peers, { kind: 'counts' })) as number[];
  await eventually(async () => (await counts()).every((count) => count > 0), { withinMs: 60_000, everyMs: 500 });

  const [cpuBefore, before, startedAt] = [await cpuMs(node), await counts(), performance.now()];
  await sleep(measureMs);
  const [cpuAfter, after, seconds] = [await cpuMs(node), await counts(), (performance.now() - startedAt) / 1000];
  const got = after.map((count, index) => count - (before[index] ?? 0));
  const { viewerCount } = await project.api.call('getLiveStream', { streamId });
  const admitted = outcomes.filter((outcome) => outcome === null).length;

  const endedAt = performance.now();
  await project.api.call('endLiveStream', { streamId });
  const ends = async () => (await ask(peers, { kind: 'ends' })) as (string | null)[];
  await eventually(async () => (await ends()).every((end) => end !== null), { withinMs: 60_000 });
  return {
    admitted,
    refused: tally(outcomes.filter((outcome) => outcome !== null)),
    viewerCount,
    fewest: Math.min(...got),
    received: got.reduce((sum, count) => sum + count, 0),
    expected: Math.round(seconds * packetsPerSecond) * admitted,
    cpuMsPerViewer: cpuBefore === null || cpuAfter === null ? null : (cpuAfter - cpuBefore) / seconds / admitted,
    ends: tally((await ends()).map(String)),
    endMs: performance.now() - endedAt,
  };
}

/** Minting is budgeted by key, so several keys of the project take turns. */
async function mintViewers(
  service: TestService,
  project: TestProject,
  { id: streamId }: LiveStream,
  count: number,
): Promise<string[]> {
  const perKey = 100;
  const tokens: string[] = [];
  for (let first = 0; first < count; first += perKey) {
    const api = service.as(await project.newKey('DEVELOPMENT'));
    for (let index = first; index < Math.min(count, first + perKey); index++) {
      const { rtc } = await api.call('createViewerToken', { streamId, body: { identity: `viewer-${index}` } });
      tokens.push(rtc.token);
    }
  }
  return tokens;
}

function tally(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

/** CPU time of the media processes so far. */
async function cpuMs({ node }: TestNode): Promise<number | null> {
  const each = await Promise.all(node.pids().map((pid) => processCpuMs(pid)));
  return each.reduce((sum, ms) => (sum === null || ms === null ? null : sum + ms), 0);
}

function ask(peers: ChildProcess, request: AudienceRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    peers.once('message', (message: { answer?: unknown; error?: string }) =>
      message.error === undefined ? resolve(message.answer) : reject(new Error(message.error)),
    );
    peers.send(request);
  });
}
