import type { ConnectionEventType } from '@parley/contract';
import type { ConnectionAbout } from '../../core/connections.ts';
import type { TokenName } from '../rooms/index.ts';

/** Writes down what the server itself sees of a connection. */
export type Observe = (
  token: TokenName,
  type: ConnectionEventType,
  connectionId: string,
  data: Record<string, unknown>,
  about?: ConnectionAbout,
) => void;
