import { setTimeout as pause } from 'node:timers/promises';
import type { Room } from '@parley/contract';
import { followersOf, gather, keepWriting } from '../../../apps/server/testkit/chat/fault-scenarios.ts';
import type { LogEntry } from '../../../apps/server/testkit/chat/history-checker.ts';
import { follow } from '../../../apps/server/testkit/chat/load.ts';
import { everyPermission } from '../../../apps/server/testkit/clients/signal-client.ts';
import { eventually } from '../../../apps/server/testkit/kit/eventually.ts';
import { type Call, startCall } from './call.ts';
import { type Cluster, type ClusterOptions, startCluster } from './cluster.ts';
import type { MediaSample, Observation } from './observation.ts';
import { startProbes } from './probes.ts';
import { startReceiving } from './webhooks.ts';

/** A cluster under load, and everything that is seen of it. */
export interface Scene extends Cluster {
  calls: readonly Call[];
  entries: readonly LogEntry[];
  /** Notes a figure of this scenario. */
  measure(name: string, value: number): void;
  accepted(): number;
  begin(): void;
  end(): void;
  log(line: string): void;
}

export interface SceneOptions extends ClusterOptions {
  log: (line: string) => void;
  /** How long everything goes on before the fault, and after it. */
  beforeMs?: number;
  afterMs?: number;
}

const writers = 6;
const writerPauseMs = 40;
const sampleMs = 100;

/** Runs `harm` in the middle of the load: it says when the fault begins and when it is over. */
export async function observe(options: SceneOptions, harm: (scene: Scene) => Promise<void>): Promise<Observation> {
  const { log, beforeMs = 2_000, afterMs = 3_000 } = options;
  const cluster = await startCluster(options);
  const { fleet } = cluster;
  const ends: (() => unknown)[] = [() => cluster.stop()];
  try {
    const entries: LogEntry[] = [];
    const receiving = await startReceiving(fleet, cluster.postgres.url);
    ends.unshift(() => receiving.close());
    const { calls, rtcTokens } = await startCalls(cluster);
    ends.unshift(() => {
      for (const call of calls) call.end();
    });
    const followers = await followersOf(fleet, fleet.processes.length * 2);
    const following = follow(followers);
    const urls = () => fleet.processes.map(({ url }) => url);
    const probes = startProbes({ urls, apiKey: fleet.project.apiKey, conversation: fleet.room, rtcTokens });
    const writing = keepWriting(fleet, entries, {
      writers,
      pauseMs: writerPauseMs,
      onAttempt: ({ place, startedMs, error }) => probes.note(place, startedMs, error),
    });
    ends.unshift(
      () => following.stop(),
      () => probes.stop(),
      () => writing.giveUp(),
    );
    const media: MediaSample[] = [];
    const sampling = setInterval(() => {
      for (const call of calls) media.push({ call: call.node, at: performance.now(), packets: call.packets() });
    }, sampleMs);
    ends.unshift(() => clearInterval(sampling));

    const facts: Record<string, number> = {};
    const fault = { from: 0, to: 0 };
    const lost = () => [
      ...followers.flatMap(({ losses }, place) => losses.map((loss) => `follower ${place} (${loss})`)),
      ...calls.flatMap(({ node, clients }) =>
        clients.flatMap(({ closed }) => (closed ? [`a call on ${node} (${closed.code} ${closed.reason})`] : [])),
      ),
    ];
    let lostBefore: string[] = [];
    const scene: Scene = {
      ...cluster,
      calls,
      entries,
      log,
      accepted: receiving.accepted,
      measure(name, value) {
        facts[name] = value;
      },
      begin() {
        fault.from = performance.now();
        lostBefore = lost();
      },
      end() {
        fault.to = performance.now();
      },
    };
    await pause(beforeMs);
    const pids = fleet.processes.map(({ child }) => child);
    await harm(scene);
    const completeMs = await untilComplete(entries, followers, fault.to);
    await pause(afterMs);
    const closedSockets = lost().filter((one) => !lostBefore.includes(one));
    const exits = fleet.processes.flatMap(({ child, output }, place) =>
      (child.exitCode !== null || child.signalCode !== null) && pids.includes(child)
        ? [`process ${place} ended: ${output().slice(-500)}`]
        : [],
    );
    await writing.finish();
    await probes.stop();
    await following.stop();
    const { history, sightings, faults } = await gather(fleet, followers);
    const webhooks = await receiving.tally(entries);
    for (const follower of followers) follower.drop();
    return {
      log: entries,
      history,
      sightings,
      followerFaults: faults,
      answers: probes.answers,
      fault,
      completeMs,
      closedSockets,
      exits,
      media,
      webhooks,
      facts: { ...facts, retries: writing.facts().retries },
    };
  } finally {
    for (const end of ends) await end();
  }
}

/** From the end of the fault until every subscriber has what was acknowledged by then. */
async function untilComplete(
  entries: readonly LogEntry[],
  followers: Awaited<ReturnType<typeof followersOf>>,
  endedMs: number,
): Promise<number> {
  const due = Math.max(0, ...entries.flatMap((entry) => (entry.is === 'ok' ? [entry.change] : [])));
  const reached = await Promise.allSettled(followers.map((follower) => follower.reach(due)));
  const isWhole = reached.every(({ status }) => status === 'fulfilled');
  return isWhole ? performance.now() - endedMs : Number.POSITIVE_INFINITY;
}

/** A call on each node, and a room for those who come and go. */
async function startCalls({ fleet, nodes }: Cluster): Promise<{ calls: Call[]; rtcTokens: string[] }> {
  if (nodes.length === 0) return { calls: [], rtcTokens: [] };
  const { api } = fleet.project;
  const patience = { withinMs: 60_000, everyMs: 250 };
  const newRoom = (name: string): Promise<Room> => api.call('createRoom', { body: { name } });
  const mint = async (room: Room, participantIdentity: string): Promise<string> => {
    const body = { participantIdentity, permissions: everyPermission, ttlSeconds: 3_600 };
    return (await api.call('mintRtcToken', { roomId: room.id, body })).token;
  };
  const calls: Call[] = [];
  for (let number = 0; calls.length < nodes.length; number++) {
    const room = await newRoom(`call-${number}`);
    const [sender, receiver, visitor] = [
      await mint(room, 'sender'),
      await mint(room, 'receiver'),
      await mint(room, 'visitor'),
    ];
    const tokens = { sender, receiver, visitor };
    const call = await eventually(() => startCall([fleet.url(number), fleet.url(number + 1)], tokens), patience);
    // Placed by load: sooner or later each node has one.
    if (calls.some(({ node }) => node === call.node)) call.end();
    else calls.push(call);
    if (number > 10) throw new Error('the nodes do not share the rooms');
  }
  await eventually(() => calls.every((call) => call.packets() > 0), patience);
  const visited = await newRoom('visited');
  const rtcTokens = await Promise.all(fleet.processes.map((_, place) => mint(visited, `visitor-${place}`)));
  return { calls, rtcTokens };
}
