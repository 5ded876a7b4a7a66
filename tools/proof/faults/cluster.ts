import { type ChatFleet, startFleet } from '../../../apps/server/testkit/chat/fleet.ts';
import {
  type OwnPostgres,
  type OwnPostgresOptions,
  startOwnPostgres,
} from '../../../apps/server/testkit/kit/own-postgres.ts';
import { type OwnRedis, startOwnRedis } from '../../../apps/server/testkit/kit/redis.ts';
import { startTcpProxy, type TcpProxy } from '../../../apps/server/testkit/peers/tcp-proxy.ts';
import { type NodeProcess, startNodeProcess } from '../../../e2e/node-process.ts';

/** Three server processes on a PostgreSQL and a Redis of their own, each with a wire of its own to Redis. */
export interface Cluster {
  fleet: ChatFleet;
  postgres: OwnPostgres;
  redis: OwnRedis;
  /** Between each process and Redis. */
  wires: readonly TcpProxy[];
  nodes: readonly NodeProcess[];
  stop(): Promise<void>;
}

export interface ClusterOptions {
  nodes?: number;
  env?: Record<string, string>;
  envOf?: (place: number) => Record<string, string>;
  postgres?: OwnPostgresOptions;
  /** One process on the embedded database instead. */
  isEmbedded?: boolean;
}

const processCount = 3;
export const backoffBaseMs = 1_000;
const secret = 'a-secret-that-the-processes-of-this-cluster-share';

const clusterEnv = {
  SFU_REGISTRATION_SECRET: secret,
  SFU_ALLOWED_HOSTS: '127.0.0.1',
  TRUST_PROXY: '127.0.0.1',
  // Short, so that what is asked many times a second stays within its budget.
  RATE_LIMIT_WINDOW_SECONDS: '5',
  CHAT_REACT_RATE_LIMIT: '30',
  SIGNALING_MAX_CONNECTIONS_PER_WINDOW: '1000000',
  WEBHOOK_ALLOW_PRIVATE: 'true',
  WEBHOOK_BACKOFF_BASE_MS: String(backoffBaseMs),
  WEBHOOK_DISABLE_AFTER_FAILURES: '1000000',
};

const absent = (): never => {
  throw new Error('an embedded server has none');
};

/** One process that stands on itself alone. */
async function startAlone({ env = {} }: ClusterOptions): Promise<Cluster> {
  const fleet = await startFleet({ processes: 1, env: { ...clusterEnv, ...env }, members: ['alice'] });
  const postgres = {
    url: '',
    isRunning: absent,
    start: absent,
    stop: absent,
    freeze: absent,
    thaw: absent,
    remove: absent,
  };
  const redis = { url: '', start: absent, kill: absent, freeze: absent, thaw: absent };
  return { fleet, postgres, redis, wires: [], nodes: [], stop: fleet.stop };
}

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  if (options.isEmbedded) return startAlone(options);
  const { nodes: nodeCount = 0, env = {}, envOf = () => ({}) } = options;
  const [postgres, redis] = await Promise.all([startOwnPostgres(options.postgres), startOwnRedis()]);
  const wires: TcpProxy[] = [];
  const nodes: NodeProcess[] = [];
  let fleet: ChatFleet | undefined;
  async function stop(): Promise<void> {
    for (const node of nodes) await node.kill();
    await fleet?.stop();
    for (const wire of wires) await wire.close();
    await redis.kill();
    await postgres.remove();
  }
  try {
    while (wires.length < processCount) wires.push(await startTcpProxy(redis.url, { mark: /\r\nsubscribe\r\n/ }));
    fleet = await startFleet({
      processes: processCount,
      env: { ...clusterEnv, DATABASE_URL: postgres.url, ...env },
      envOf: (place) => ({ REDIS_URL: wires[place]?.url ?? '', ...envOf(place) }),
      members: ['alice'],
    });
    for (let place = 0; place < nodeCount; place++)
      nodes.push(await startNodeProcess({ name: `node-${place}`, secret, controlUrl: fleet.url(place) }));
    return { fleet, postgres, redis, wires, nodes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
