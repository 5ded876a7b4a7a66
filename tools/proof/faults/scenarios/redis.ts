import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, createApi } from '@parley/server';
import { tagsOf } from '../../../../apps/server/src/adapters/redis-stores.ts';
import { eventually } from '../../../../apps/server/testkit/kit/eventually.ts';
import { following, type OwnCluster, promoted, slotsInUse } from '../../../../apps/server/testkit/kit/redis-cluster.ts';
import {
  completeWithin,
  fact,
  keptWorking,
  mediaFlows,
  noExit,
  onlyStatuses,
  quick,
  refused,
  socketsStay,
  staysHealthy,
} from '../invariants.ts';
import { always, core, type Scenarios } from '../scenario.ts';
import type { Scene } from '../scene.ts';

/** How long a request may take when Redis hangs: one command's patience on top of its own work. */
const workingMsMax = 1_500;
/** Until a kill has been carried out and noticed, a question may still be answered. */
const killedMsMax = 500;
/** CHAT_REACT_RATE_LIMIT of the cluster. */
const reactionsMax = 30;

const invariants = {
  ...always,
  'no process ends': noExit,
  'open sockets stay': socketsStay,
  'media flows': mediaFlows(1_000),
  '/healthz says 200': staysHealthy,
  'sends, reads, mints and joins go on': keptWorking(core, workingMsMax),
  'presence and typing work or are refused for now, within 2 s': quick(['presence', 'typing']),
  'nothing but 503 goes wrong': onlyStatuses(503),
  'subscribers are complete within 5 s': completeWithin(5_000),
};

/** One user reacts at every process as often as one window allows all of them together; how often it was allowed. */
async function reactEverywhere({ fleet }: Scene): Promise<number[]> {
  const body = { text: 'react to this', senderId: 'alice', clientMessageId: `reactions-${Date.now()}` };
  const elsewhere = await fleet.project.api.call('createConversation', {
    body: { name: body.clientMessageId, members: ['alice'] },
  });
  const { id: messageId } = await fleet.project.api.call('sendMessage', { room: elsewhere.id, body });
  const credential = await fleet.tokenOf('alice');
  const allowed = fleet.processes.map(async ({ url }) => {
    const api = createApi({ baseUrl: url, credential });
    const tries = Array.from({ length: reactionsMax }, () =>
      api.call('addReaction', { messageId, body: { emoji: '👍' } }),
    );
    const outcomes = await Promise.allSettled(tries);
    for (const one of outcomes) if (one.status === 'rejected' && !isOverLimit(one.reason)) throw one.reason;
    return outcomes.filter(({ status }) => status === 'fulfilled').length;
  });
  return Promise.all(allowed);
}

const isOverLimit = (error: unknown): boolean => error instanceof ApiError && error.status === 429;

function clusterOf({ redis: { cluster } }: Scene): OwnCluster {
  return cluster ?? assert.fail('this scenario has a cluster');
}

export const redis: Scenarios = {
  'redis-stop': {
    title: 'Redis is gone for 30 s',
    options: { nodes: 2 },
    async harm(scene, { scale }) {
      const { redis: own, log, begin, end, measure, accepted } = scene;
      begin();
      await own.kill();
      log('Redis is gone');
      const before = accepted();
      await pause(2_000);
      const allowed = await reactEverywhere(scene);
      log(`reactions allowed at each process: ${allowed.join(', ')}`);
      await pause(Math.max(6_000, 28_000 * scale));
      measure('webhooksWithout', accepted() - before);
      measure('fewestAllowed', Math.min(...allowed));
      measure(
        'allAllowed',
        allowed.reduce((sum, count) => sum + count, 0),
      );
      end();
      await own.start();
    },
    invariants: {
      ...invariants,
      'presence and typing say 503': refused(['presence', 'typing'], ['SVC_SERVICE_UNAVAILABLE'], killedMsMax),
      'webhooks are delivered': fact('webhooksWithout', 1, Number.POSITIVE_INFINITY),
      'each process grants its share of a limit': fact('fewestAllowed', 1, reactionsMax),
      'all together grant no more than the limit': fact('allAllowed', 1, reactionsMax),
    },
  },

  'redis-hang': {
    title: 'Redis takes connections and answers nothing for 30 s',
    options: { nodes: 2 },
    async harm({ redis: own, begin, end }, { scale }) {
      begin();
      own.freeze();
      await pause(Math.max(8_000, 30_000 * scale));
      end();
      own.thaw();
    },
    invariants: {
      ...invariants,
      'presence and typing say 503': refused(['presence', 'typing'], ['SVC_SERVICE_UNAVAILABLE'], 1_000),
    },
  },

  'redis-flush': {
    title: 'FLUSHALL, ten times',
    options: { nodes: 2 },
    async harm({ redis: own, fleet, begin, end, measure }) {
      begin();
      for (let time = 0; time < 10; time++) {
        await own.flush();
        await pause(500);
      }
      end();
      // alice has not left: as soon as her client sends again she is shown again.
      const flushed = performance.now();
      const isPresent = async (): Promise<boolean> =>
        (await fleet.api(0).call('listPresence', { room: fleet.room })).length > 0;
      await eventually(isPresent, { withinMs: 60_000, everyMs: 100 });
      measure('presentAgainMs', Math.round(performance.now() - flushed));
    },
    invariants: { ...invariants, 'who is there is shown again within its lifetime': fact('presentAgainMs', 0, 45_000) },
  },

  'redis-deaf': {
    title: 'Every subscription of a process dies without a sign, one process after the other',
    // Between processes and a cluster there is no wire of ours.
    options: { nodes: 2, redis: 'one' },
    async harm({ redis: { wires }, begin, end, measure }) {
      let deaf = 0;
      begin();
      for (const wire of wires) {
        deaf += wire.deafenMarked();
        await pause(1_000);
      }
      end();
      measure('deaf', deaf);
    },
    invariants: { ...invariants, 'each process had one': fact('deaf', 3, 3) },
  },

  'redis-master': {
    title: 'kill -9 of each master of a cluster, one after the other; its replica takes its place',
    options: { nodes: 2, redis: 'cluster' },
    async harm(scene) {
      const { log, begin, end, measure } = scene;
      const { masters, replicas } = clusterOf(scene);
      let slowestMs = 0;
      begin();
      for (const [at, master] of masters.entries()) {
        const replica = replicas[at] ?? assert.fail('a master without a replica');
        const killed = performance.now();
        await master.kill();
        await promoted(replica);
        const ms = Math.round(performance.now() - killed);
        log(`master ${at} was replaced after ${ms} ms`);
        slowestMs = Math.max(slowestMs, ms);
        // As a replica of the one that took its place: two of three masters must be there to replace the next.
        await master.start();
        await following(master);
      }
      end();
      measure('replacedMs', slowestMs);
    },
    invariants: { ...invariants, 'each is replaced': fact('replacedMs', 1, 60_000) },
  },

  'redis-slots': {
    title: 'All slots in use move to one master of a cluster, and from there to another',
    options: { nodes: 2, redis: 'cluster' },
    async harm(scene, { scale }) {
      const { begin, end, measure } = scene;
      const { masters, moveSlots } = clusterOf(scene);
      const [first, second, third] = masters;
      if (!first || !second || !third) throw new Error('a cluster has three masters');
      let moved = 0;
      begin();
      for (const [from, to] of [
        [first, second],
        [third, second],
        [second, first],
      ] as const) {
        for (const slot of await slotsInUse(from, tagsOf('cluster'))) {
          await moveSlots([slot], from, to);
          moved += 1;
          await pause(100 * scale);
        }
      }
      end();
      measure('moved', moved);
    },
    // Each of them once, and those of the first and the third master twice.
    invariants: { ...invariants, 'every slot in use has moved': fact('moved', tagsOf('cluster').length, 1_000) },
  },

  'redis-shard': {
    title: 'Each shard of a cluster is gone for 10 s, its master and its replica, one shard after the other',
    options: { nodes: 2, redis: 'cluster' },
    async harm(scene, { scale }) {
      const { log, begin, end, measure } = scene;
      const { masters, replicas } = clusterOf(scene);
      let gone = 0;
      begin();
      for (const [at, master] of masters.entries()) {
        const replica = replicas[at] ?? assert.fail('a master without a replica');
        await Promise.all([master.kill(), replica.kill()]);
        log(`shard ${at} is gone`);
        await pause(Math.max(4_000, 10_000 * scale));
        await Promise.all([master.start(), replica.start()]);
        await following(replica);
        gone += 1;
      }
      end();
      measure('gone', gone);
    },
    invariants: { ...invariants, 'each was gone': fact('gone', 3, 3) },
  },
};
