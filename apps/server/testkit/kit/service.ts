import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Api } from '@parley/server';
import { openSharedState, openStores } from '../../src/adapters/open.ts';
import { compose, type Service } from '../../src/compose.ts';
import { type Config, readConfig } from '../../src/config.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { Db } from '../../src/core/db.ts';
import { createLog } from '../../src/core/log.ts';
import type { Adapters } from '../../src/core/ports.ts';
import type { PasswordCost } from '../../src/domains/accounts/index.ts';
import type { OpenTurnPipe } from '../../src/tls/index.ts';
import { takeDatabase } from './database-pool.ts';
import { createDeclaredApi } from './declared-api.ts';
import { createPeople, type People } from './people.ts';
import { type OpenPort, openPort } from './ports.ts';
import type { TestDatabase } from './test-database.ts';

/** The whole service on a free port and a database of its own. */
export interface TestService extends People {
  url: string;
  config: Config;
  adapters: Adapters;
  service: Service;
  clock: Clock;
  /** Calls with any credential, or none. */
  as(credential?: string): Api;
  /** A raw request. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
}

export interface TestServiceOptions {
  /** Variables of this service: limits, switches. */
  env?: Record<string, string>;
  clock?: Clock;
  /** Runs beside another one, on its database and shared state, as a second process would. */
  beside?: TestService;
  /** On this one, which is the caller's to close. */
  db?: Db;
  /** Puts something between the service and what it stands on: a fault, a counter. */
  wrap?: (adapters: Adapters) => Adapters;
  /** As milliseconds of event-loop delay; none by default, however slow the machine. */
  loopDelay?: () => number;
  /** Where it listens, for who must know that before. */
  open?: OpenPort;
  /** Where TURN on the service's own port goes. */
  openTurnPipe?: OpenTurnPipe;
  /** Little by default: tests make hundreds of accounts, and the real one takes 30 ms of CPU for each look at a password. */
  passwordCost?: PasswordCost;
}

/** Set by `npm run test:production`: then shared state is in Redis, under a prefix of this service's own. */
const redisUrl = process.env['PARLEY_TEST_REDIS_URL'];

export async function startService({
  env = {},
  clock = systemClock,
  beside,
  db: given,
  wrap = (adapters) => adapters,
  loopDelay = () => 0,
  passwordCost = { memoryCost: 64, timeCost: 1, parallelism: 1 },
  open,
  ...rest
}: TestServiceOptions = {}): Promise<TestService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
  // Before the rest: links and tokens carry the public URL, and with it the port.
  const { port, listener } = open ?? (await openPort(env['HOST']));
  const config = testConfig(port, dataDir, beside, env);
  const log = createLog(config.logLevel);
  const database: TestDatabase | null = beside || given ? null : await takeDatabase();
  const shared = beside && redisUrl === undefined ? null : await openSharedState(config, { clock, log });
  // The mailbox stands for a mail server, in production too.
  const stores = await openStores({ ...config, isProduction: false }, { clock, log });
  const db = given ?? database?.db ?? beside?.adapters.db;
  if (!db) throw new Error('no database');
  const adapters: Adapters = { ...stores, ...(shared ?? pick(beside?.adapters)), db, replica: null };
  const service = await compose({
    ...rest,
    config,
    adapters: wrap(adapters),
    clock,
    log,
    loopDelay,
    passwordCost,
    listener,
  });

  async function stop(): Promise<void> {
    await service.stop();
    // Of a service that was stopped before it listened.
    listener.close();
    await shared?.close();
    await stores.close();
    await database?.close();
    await rm(dataDir, { recursive: true, force: true });
  }

  try {
    await service.start();
  } catch (error) {
    await stop();
    throw error;
  }
  const url = service.address().url;
  return {
    url,
    config,
    adapters,
    service,
    clock,
    ...createPeople(url),
    as: (credential) => createDeclaredApi({ baseUrl: url, ...(credential === undefined ? {} : { credential }) }),
    fetch: (path, init) => fetch(`${url}${path}`, init),
    stop,
  };
}

function testConfig(
  port: number,
  dataDir: string,
  beside: TestService | undefined,
  env: Record<string, string>,
): Config {
  return readConfig({
    PORT: String(port),
    PUBLIC_URL: `http://localhost:${port}`,
    DATA_DIR: dataDir,
    LOG_LEVEL: process.env['PARLEY_TEST_LOG'] ?? 'silent',
    // The tests speak for many addresses.
    TRUST_PROXY: '127.0.0.1',
    ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl, REDIS_KEY_PREFIX: `test-${randomUUID()}:` }),
    ...(beside
      ? {
          SECRET_KEY: beside.config.secretKey,
          SFU_REGISTRATION_SECRET: beside.config.sfuSecrets.join(','),
          REDIS_KEY_PREFIX: beside.config.redisPrefix,
        }
      : {}),
    ...env,
  });
}

type Shared = Pick<Adapters, 'bus' | 'counters' | 'expiringSets' | 'locks'>;

function pick(adapters: Adapters | undefined): Shared {
  if (!adapters) throw new Error('nothing to share');
  const { bus, counters, expiringSets, locks } = adapters;
  return { bus, counters, expiringSets, locks };
}
