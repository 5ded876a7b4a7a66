import {
  type ClassifiedCode,
  type ConnectionEventRow,
  classifiedCodes,
  connectionEvents,
  type ErrorCategory,
} from '@parley/contract';
import type { ConnectionFact } from '../../core/connections.ts';

/** What a failed step is called. */
export interface Classified {
  category: ErrorCategory;
  code: string;
}

/** Names the failure in a step, or null when it is none. A code we know decides; else the step itself does. */
export function classify({ type, data }: Pick<ConnectionFact, 'type' | 'data'>): Classified | null {
  const row: ConnectionEventRow = connectionEvents[type];
  const given = codeIn(data);
  const reason = typeof data?.['reason'] === 'string' ? failureReasons[data['reason']] : undefined;
  if (row.error === undefined) return type === 'left' || type === 'signaling.disconnected' ? named(reason) : null;
  if (given !== null && Object.hasOwn(classifiedCodes, given)) return named(given);
  return { category: row.error.category, code: given ?? row.error.code };
}

/** Reasons of a disconnect that are failures; leaving, being removed and closing a room are not. */
const failureReasons: Readonly<Record<string, string>> = {
  CONNECTION_TIMEOUT: 'CONNECTION_TIMEOUT',
  // The server ends a stay so only when its node, or the process that carried the room, is gone.
  MEDIA_FAILURE: 'NODE_LOST',
  JOIN_FAILURE: 'JOIN_FAILED',
  SERVER_SHUTDOWN: 'SVC_SERVICE_UNAVAILABLE',
  RATE_LIMITED: 'SVC_RATE_LIMITED',
  TOKEN_EXPIRED: 'SVC_TOKEN_EXPIRED',
};

const named = (code: string | undefined): Classified | null => {
  const known = code === undefined ? undefined : classifiedCodes[code];
  return code !== undefined && known ? { category: known.category, code } : null;
};

/** A code is ours or a short upper-case word; anything else a client sends is not a code. */
function codeIn(data: Record<string, unknown> | undefined): string | null {
  const code = data?.['code'];
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : null;
}

const unnamed = { message: 'A failure without a known cause.', hint: null, isRetryable: false } as const;

/** The sentence, the advice and whether to retry, for an error as it is shown. */
export const explain = (code: string): Pick<ClassifiedCode, 'message' | 'isRetryable'> & { hint: string | null } =>
  (Object.hasOwn(classifiedCodes, code) ? classifiedCodes[code] : undefined) ?? unnamed;
