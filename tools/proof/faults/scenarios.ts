import type { Scenarios } from './scenario.ts';
import { broken } from './scenarios/broken.ts';
import { steps } from './scenarios/clocks.ts';
import { media } from './scenarios/media.ts';
import { postgres } from './scenarios/postgres.ts';
import { redis } from './scenarios/redis.ts';
import { servers } from './scenarios/servers.ts';
import { storage } from './scenarios/storage.ts';

export const scenarios: Scenarios = { ...servers, ...postgres, ...redis, ...media, ...storage, ...steps, ...broken };
