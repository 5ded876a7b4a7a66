import type { Environment } from '@parley/contract';
import { t } from './t.ts';

/** An environment within a sentence. */
export const environmentName = (environment: Environment): string =>
  t(environment === 'PRODUCTION' ? 'frame.inProduction' : 'frame.inDevelopment');
