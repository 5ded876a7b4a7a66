import { type ChatFleet, startFleet } from '../../../apps/server/testkit/chat/fleet.ts';
import {
  type OwnPostgres,
  type OwnPostgresOptions,
  startOwnPostgres,
} from '../../../apps/server/testkit/kit/own-postgres.ts';
import { type NodeProcess, startNodeProcess } from '../../../e2e/node-process.ts';
import { type RedisKind, type SharedState, startSharedState } from './shared-state.ts';

/** Three server processes on a PostgreSQL and a Redis of their own. */
export interface Cluster {
  fleet: ChatFleet;
  postgres: OwnPostgres;
  redis: SharedState;
  nodes: readonly NodeProcess[];
  stop(): Promise<void>;
}

export interface ClusterOptions {
  nodes?: number;
  env?: Record<string, string>;
  envOf?: (place: number) => Record<string, string>;
  postgres?: OwnPostgresOptions;
  /** One server unless told. */
  redis?: RedisKind;
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
  const redis = {
    urlOf: absent,
    start: absent,
    kill: absent,
    freeze: absent,
    thaw: absent,
    flush: absent,
    wires: [],
    cluster: null,
    stop: absent,
  };
  return { fleet, postgres, redis, nodes: [], stop: fleet.stop };
}

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  if (options.isEmbedded) return startAlone(options);
  const { nodes: nodeCount = 0, env = {}, envOf = () => ({}), redis: kind = 'one' } = options;
  const [postgres, redis] = await Promise.all([
    startOwnPostgres(options.postgres),
    startSharedState(kind, processCount),
  ]);
  const nodes: NodeProcess[] = [];
  let fleet: ChatFleet | undefined;
  async function stop(): Promise<void> {
    for (const node of nodes) await node.kill();
    await fleet?.stop();
    await redis.stop();
    await postgres.remove();
  }
  try {
    fleet = await startFleet({
      processes: processCount,
      env: { ...clusterEnv, DATABASE_URL: postgres.url, ...env },
      envOf: (place) => ({ REDIS_URL: redis.urlOf(place), ...envOf(place) }),
      members: ['alice'],
    });
    for (let place = 0; place < nodeCount; place++)
      nodes.push(await startNodeProcess({ name: `node-${place}`, secret, controlUrl: fleet.url(place) }));
    return { fleet, postgres, redis, nodes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
