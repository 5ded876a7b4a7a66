import { type Environment, fail } from '@parley/contract';

/** The `environment` of a dashboard request; development unless it says otherwise. */
export function readEnvironment(text: unknown): Environment {
  if (text === undefined || text === '') return 'DEVELOPMENT';
  return text === 'DEVELOPMENT' || text === 'PRODUCTION' ? text : fail('SVC_INVALID_ENVIRONMENT');
}
