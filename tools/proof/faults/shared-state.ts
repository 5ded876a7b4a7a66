import { askRedis, type OwnRedis, startOwnRedis } from '../../../apps/server/testkit/kit/redis.ts';
import { type OwnCluster, startOwnCluster } from '../../../apps/server/testkit/kit/redis-cluster.ts';
import { stoppable } from '../../../apps/server/testkit/kit/stoppable.ts';
import { startTcpProxy, type TcpProxy } from '../../../apps/server/testkit/peers/tcp-proxy.ts';

export type RedisKind = 'one' | 'cluster';

/** The Redis of the processes, in either kind: what fails, fails as a whole. */
export interface SharedState extends Omit<OwnRedis, 'url'> {
  /** REDIS_URL of a process. */
  urlOf(place: number): string;
  /** Everything in it is gone. */
  flush(): Promise<void>;
  /** Between each process and one server. None to a cluster: that tells clients the addresses of its servers. */
  wires: readonly TcpProxy[];
  /** Three masters, each with a replica. */
  cluster: OwnCluster | null;
  stop(): Promise<void>;
}

/** How long a master may be silent before its replica takes its place. */
const nodeTimeoutMs = 1_000;

export const startSharedState = (kind: RedisKind, processes: number): Promise<SharedState> =>
  kind === 'cluster' ? startCluster() : startOne(processes);

const flushAll = (url: string): Promise<unknown> => askRedis(url, (client) => client.flushAll());

const startOne = (processes: number): Promise<SharedState> =>
  stoppable(async (onStop) => {
    const server = await startOwnRedis();
    onStop(server.kill);
    const wires: TcpProxy[] = [];
    while (wires.length < processes) {
      const wire = await startTcpProxy(server.url, { mark: /\r\nsubscribe\r\n/ });
      onStop(wire.close);
      wires.push(wire);
    }
    return {
      ...server,
      urlOf: (place) => wires[place]?.url ?? '',
      flush: async () => void (await flushAll(server.url)),
      wires,
      cluster: null,
    };
  });

const startCluster = (): Promise<SharedState> =>
  stoppable(async (onStop) => {
    const cluster = await startOwnCluster({ replicas: true, nodeTimeoutMs });
    onStop(cluster.stop);
    const { masters, replicas, url } = cluster;
    const all = [...masters, ...replicas];
    return {
      urlOf: () => url,
      // At once, or replicas would take the places of those that went first.
      kill: async () => void (await Promise.all(all.map(({ kill }) => kill()))),
      start: async () => void (await Promise.all(all.map(({ start }) => start()))),
      freeze() {
        for (const { freeze } of all) freeze();
      },
      thaw() {
        for (const { thaw } of all) thaw();
      },
      flush: async () => void (await Promise.all(masters.map((master) => flushAll(master.url)))),
      wires: [],
      cluster,
    };
  });
