import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, processStartMs } from './eventually.ts';
import { ownPort } from './ports.ts';
import { createAsker, killChild } from './redis.ts';
import { stoppable } from './stoppable.ts';

const slots = 16_384;
/** A master is silent for its time, the others agree, and a replica is elected. */
const failoverMs = 60_000;

export interface ClusterNode {
  url: string;
  port: number;
  id: string;
  ask(...command: string[]): Promise<unknown>;
  start(): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
  /** Lets it hang: connections stay open and nothing is answered. */
  freeze(): void;
  thaw(): void;
}

/** A Redis Cluster of our own. */
export interface OwnCluster {
  /** As in REDIS_URL. */
  url: string;
  masters: ClusterNode[];
  /** The one of the master at the same place, where there are replicas. */
  replicas: ClusterNode[];
  /** Moves slots from one master to another, keys included, as `redis-cli --cluster reshard` does. */
  moveSlots(some: Iterable<number>, from: ClusterNode, to: ClusterNode): Promise<void>;
  stop(): Promise<void>;
}

interface ClusterOptions {
  replicas?: boolean;
  /** How long a master may be silent before it counts as failed, and its replica takes its place. */
  nodeTimeoutMs?: number;
}

export const startOwnCluster = ({ replicas: hasReplicas = false, nodeTimeoutMs = 30_000 }: ClusterOptions = {}) =>
  stoppable(async (onStop): Promise<Omit<OwnCluster, 'stop'>> => {
    const dir = await mkdtemp(join(tmpdir(), 'parley-cluster-'));
    onStop(() => rm(dir, { recursive: true, force: true }));
    const all: Joining[] = [];
    for (let at = 0; at < (hasReplicas ? 6 : 3); at++) {
      const node = createNode({ dir, port: await ownPort(), busPort: await ownPort(), nodeTimeoutMs });
      onStop(node.kill);
      all.push(node);
    }
    await Promise.all(all.map((node) => node.start()));
    const [masters, replicas] = [all.slice(0, 3), all.slice(3)];
    await introduce(masters, all);
    for (const [at, replica] of replicas.entries()) {
      await eventually(() => replica.ask('CLUSTER', 'REPLICATE', masters[at]?.id ?? ''), { withinMs: processStartMs });
    }
    await eventually(() => assertWhole(all), { withinMs: processStartMs });
    return {
      url: masters.map(({ port }) => `redis+cluster://127.0.0.1:${port}`).join(),
      masters,
      replicas,
      moveSlots: (some, from, to) => moveSlots(some, from, to, masters),
    };
  });

interface NodeOptions {
  dir: string;
  port: number;
  busPort: number;
  nodeTimeoutMs: number;
}

type Joining = ClusterNode & { busPort: number };

function createNode({ dir, port, busPort, nodeTimeoutMs }: NodeOptions): Joining {
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const { ask, close } = createAsker(url);
  const options = {
    port,
    bind: '127.0.0.1',
    'cluster-enabled': 'yes',
    'cluster-port': busPort,
    'cluster-config-file': `nodes-${port}.conf`,
    'cluster-node-timeout': nodeTimeoutMs,
    'cluster-require-full-coverage': 'no',
    'repl-diskless-sync-delay': 0,
    dir,
    save: '',
    appendonly: 'no',
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const node = {
    url,
    port,
    busPort,
    id: '',
    ask,
    async start() {
      child = spawn('redis-server', args, { stdio: 'ignore' });
      await eventually(() => ask('PING'), { withinMs: processStartMs });
      node.id = String(await ask('CLUSTER', 'MYID'));
    },
    kill() {
      close();
      return killChild(child);
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
  };
  return node;
}

async function introduce(masters: readonly Joining[], all: readonly Joining[]): Promise<void> {
  const share = Math.ceil(slots / masters.length);
  for (const [at, master] of masters.entries()) {
    const last = Math.min(slots, (at + 1) * share) - 1;
    await master.ask('CLUSTER', 'ADDSLOTSRANGE', String(at * share), String(last));
  }
  for (const [at, node] of all.entries()) await node.ask('CLUSTER', 'SET-CONFIG-EPOCH', String(at + 1));
  const [first, ...others] = all;
  for (const { port, busPort } of others) {
    await first?.ask('CLUSTER', 'MEET', '127.0.0.1', String(port), String(busPort));
  }
  await eventually(() => assertKnown(all), { withinMs: processStartMs });
}

async function assertKnown(all: readonly ClusterNode[]): Promise<void> {
  for (const node of all) {
    const nodes = String(await node.ask('CLUSTER', 'NODES'))
      .trim()
      .split('\n');
    const isDone = nodes.length === all.length && !nodes.some((line) => /handshake|fail|noaddr/.test(line));
    if (!isDone) throw new Error(`not all know each other:\n${nodes.join('\n')}`);
  }
}

async function assertWhole(all: readonly ClusterNode[]): Promise<void> {
  for (const node of all) {
    const info = String(await node.ask('CLUSTER', 'INFO'));
    if (!/cluster_state:ok/.test(info) || !/cluster_slots_ok:16384/.test(info)) throw new Error(info);
  }
}

async function moveSlots(
  some: Iterable<number>,
  from: ClusterNode,
  to: ClusterNode,
  masters: readonly ClusterNode[],
): Promise<void> {
  for (const slot of some) {
    const set = (node: ClusterNode, ...what: string[]) => node.ask('CLUSTER', 'SETSLOT', String(slot), ...what);
    await set(to, 'IMPORTING', from.id);
    await set(from, 'MIGRATING', to.id);
    for (;;) {
      const keys = (await from.ask('CLUSTER', 'GETKEYSINSLOT', String(slot), '100')) as string[];
      if (keys.length === 0) break;
      await from.ask('MIGRATE', '127.0.0.1', String(to.port), '', '0', '5000', 'REPLACE', 'KEYS', ...keys);
    }
    await set(to, 'NODE', to.id);
    await Promise.all(masters.filter((node) => node !== to).map((node) => set(node, 'NODE', to.id)));
  }
}

/** The slots of a master in which we have keys and channels. */
export async function slotsInUse(master: ClusterNode, tags: readonly string[]): Promise<number[]> {
  const lines = String(await master.ask('CLUSTER', 'NODES')).split('\n');
  const own = lines.find((line) => line.includes('myself')) ?? '';
  const ranges = own
    .split(' ')
    .slice(8)
    .map((range) => range.split('-').map(Number));
  const all = await Promise.all(tags.map(async (tag) => Number(await master.ask('CLUSTER', 'KEYSLOT', tag))));
  return all.filter((slot) => ranges.some(([first = 0, last = first]) => slot >= first && slot <= last));
}

const hasRole = async (node: ClusterNode, role: 'master' | 'slave'): Promise<boolean> =>
  String(await node.ask('INFO', 'replication')).includes(`role:${role}`);

/** Resolves once a replica has taken the place of its master. */
export async function promoted(replica: ClusterNode): Promise<void> {
  await eventually(() => hasRole(replica, 'master'), { withinMs: failoverMs });
}

/** Resolves once a node has all that its master has, and may take its place. */
export async function following(node: ClusterNode): Promise<void> {
  const isInStep = async (): Promise<boolean> =>
    String(await node.ask('INFO', 'replication')).includes('master_link_status:up');
  await eventually(async () => (await hasRole(node, 'slave')) && (await isInStep()), { withinMs: failoverMs });
}

/** Whether a channel is heard there whose name has this. */
export async function isHeardAt(node: ClusterNode, part: string): Promise<boolean> {
  const channels = await node.ask('PUBSUB', 'SHARDCHANNELS', `*${part}*`);
  return Array.isArray(channels) && channels.length > 0;
}

/** The master where a channel is heard whose name has this, and its replica. */
export async function shardOfChannel({ masters, replicas }: OwnCluster, part: string) {
  for (const [at, master] of masters.entries()) {
    const replica = replicas[at];
    if (replica && (await isHeardAt(master, part))) return { master, replica };
  }
  throw new Error(`no master with a replica hears a channel of ${part}`);
}
