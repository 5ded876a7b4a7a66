import { setTimeout as pause } from 'node:timers/promises';
import { JoinRefused } from '../../../../apps/server/testkit/clients/signal-client.ts';
import { eventually } from '../../../../apps/server/testkit/kit/eventually.ts';
import type { Call } from '../call.ts';
import { fact, keptWorking, mediaFlows, noExit, onlyStatuses, quick } from '../invariants.ts';
import { always, type Scenarios } from '../scenario.ts';
import type { Scene } from '../scene.ts';

const patience = { withinMs: 90_000, everyMs: 100 };
/** SFU_HEARTBEAT_TIMEOUT_SECONDS, one look at the fleet later. */
const reallocatedMsMax = 30_000 + 10_000;
const heartbeatMs = 10_000;
/** Between a client's clock reading and the server's. */
const slackMs = 2_000;

const invariants = {
  ...always,
  'no process ends': noExit,
  'rooms on the other node are untouched': mediaFlows(1_000, (node) => node === 'node-1'),
  'sends, reads and mints go on': keptWorking(['send', 'read', 'mint'], 2_000),
  'joins work or are refused for now, within 2 s': quick(['join']),
  'nothing but 503 goes wrong': onlyStatuses(503),
};

function callOn({ calls }: Scene, node: string): Call {
  const found = calls.find((call) => call.node === node);
  if (!found) throw new Error(`no call on ${node}`);
  return found;
}

/** Retries a join until it succeeds; returns the errors, and how long the slowest refusal took. */
async function retryJoin(call: Call, url: string): Promise<{ slowestMs: number; refusals: string[]; node: string }> {
  const refusals = new Set<string>();
  let slowestMs = 0;
  return eventually(
    async () => {
      const started = performance.now();
      try {
        const client = await call.enter(url);
        client.ws.terminate();
        return { slowestMs, refusals: [...refusals], node: client.joined.room.serverName ?? '' };
      } catch (error) {
        slowestMs = Math.max(slowestMs, performance.now() - started);
        if (!(error instanceof JoinRefused) || error.frame['retryAfterSeconds'] === undefined) throw error;
        refusals.add(String(error.frame['svcCode']));
        error.socket.ws.terminate();
        throw error;
      }
    },
    { ...patience, everyMs: 500 },
  );
}

/** Seconds that each of the call's people stayed, and pays for, beyond the moment the node died. */
async function billedAfter({ fleet }: Scene, call: Call, diedMs: number): Promise<number[]> {
  const people = new Set(call.clients.map(({ joined }) => joined.sessionId));
  return eventually(async () => {
    const sessions = await fleet.api(0).call('listRoomSessions', { id: call.roomId, query: { limit: 200 } });
    const ends = sessions.filter(({ sessionId }) => people.has(sessionId)).flatMap(({ leftAt }) => leftAt ?? []);
    if (ends.length < people.size) throw new Error('they have not left yet');
    return ends.map((leftAt) => (Date.parse(leftAt) - diedMs) / 1000);
  }, patience);
}

export const media: Scenarios = {
  'node-kill': {
    title: 'kill -9 of one of two media nodes',
    options: { nodes: 2 },
    async harm(scene) {
      const { nodes, fleet, log, begin, end, measure } = scene;
      const call = callOn(scene, 'node-0');
      begin();
      const [killed, diedMs] = [performance.now(), Date.now()];
      await nodes[0]?.kill();
      const joining = retryJoin(call, fleet.url(1));
      await eventually(() => call.clients.every(({ closed }) => closed !== null), patience);
      measure('toldMs', Math.round(performance.now() - killed));
      const codes = call.clients.map(({ closed }) => closed?.code);
      measure('toldToComeBack', codes.filter((code) => code === 4503).length);
      const { slowestMs, refusals, node } = await joining;
      measure('reallocatedMs', Math.round(performance.now() - killed));
      measure('slowestRefusalMs', Math.round(slowestMs));
      log(`refused meanwhile with ${refusals.join()}; now on ${node}`);
      end();
      const billed = await billedAfter(scene, call, diedMs);
      measure('billedAfterDeathSeconds', Math.round(Math.max(...billed) * 10) / 10);
      measure('billedShortSeconds', Math.round(-Math.min(0, ...billed) * 10) / 10);
    },
    invariants: {
      ...invariants,
      'both people are told to come back': fact('toldToComeBack', 2, 2),
      'its rooms are elsewhere after the heartbeat timeout': fact('reallocatedMs', 0, reallocatedMsMax),
      'joins meanwhile are refused within 2 s': fact('slowestRefusalMs', 0, 2_000),
      'nobody is billed after the death': fact('billedAfterDeathSeconds', -heartbeatMs / 1000, slackMs / 1000),
      'nobody is billed short by more than a heartbeat': fact('billedShortSeconds', 0, (heartbeatMs + slackMs) / 1000),
    },
  },

  'node-drain': {
    title: 'One of two media nodes is drained, then by force',
    options: { nodes: 2 },
    async harm(scene) {
      const { fleet, begin, end, measure } = scene;
      const operator = fleet.project.owner.api;
      const call = callOn(scene, 'node-0');
      begin();
      await operator.call('drainServer', { name: call.node, body: {} });
      const before = call.packets();
      await pause(3_000);
      measure('packetsWhileDraining', call.packets() - before);
      const forced = performance.now();
      await operator.call('drainServer', { name: call.node, body: { force: true } });
      const { node, slowestMs } = await retryJoin(call, fleet.url(1));
      measure('movedMs', Math.round(performance.now() - forced));
      measure('slowestRefusalMs', Math.round(slowestMs));
      measure('isElsewhere', node === call.node ? 0 : 1);
      await eventually(() => call.clients.every(({ closed }) => closed !== null), patience);
      measure('toldToComeBack', call.clients.filter(({ closed }) => closed?.code === 4503).length);
      end();
      await operator.call('undrainServer', { name: call.node });
    },
    invariants: {
      ...invariants,
      'rooms stay while it drains': fact('packetsWhileDraining', 60, Number.POSITIVE_INFINITY),
      'by force its people are told to come back': fact('toldToComeBack', 2, 2),
      'and find their room on the other node at once': fact('isElsewhere', 1, 1),
      'within 5 s': fact('movedMs', 0, 5_000),
    },
  },
};
