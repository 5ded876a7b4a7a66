import { ConstraintViolation, DatabaseUnavailable } from '../../../core/db.ts';

/** The fields both vendors put on an error. */
interface VendorError {
  message: string;
  code?: string | undefined;
  constraint?: string | undefined;
  table?: string | undefined;
  column?: string | undefined;
}

const constraintKinds: Readonly<Record<string, ConstraintViolation['kind']>> = {
  '23505': 'unique',
  '23P01': 'unique', // exclusion constraint
  '23503': 'foreignKey',
  '23001': 'foreignKey', // restrict, PostgreSQL 18
  '23514': 'check',
  '23502': 'notNull',
};

// 08 connection, 53 out of disk, memory or connections, 57P0x shutting down or starting, 58 I/O, 25006 read-only standby.
const unavailableStates = /^(08|53|58|57P0[1-5]|25006)/;
const unavailableCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);
const unavailableMessages =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|Query read timeout|pool after calling end/i;

function isVendorError(error: unknown): error is VendorError {
  return error instanceof Error;
}

/** True when the database gave up this transaction for another's sake: running it again is the cure. */
export const isConflict = (error: unknown): boolean =>
  isVendorError(error) && (error.code === '40001' || error.code === '40P01');

/** True when the schema changed under a prepared statement: it must be prepared again. */
export const isStalePlan = (error: unknown): boolean =>
  isVendorError(error) && error.code === '0A000' && /cached plan must not change/.test(error.message);

/** What our code sees instead of the vendor's error; anything unknown passes as it is. */
export function translateError(error: unknown): unknown {
  if (!isVendorError(error) || error instanceof ConstraintViolation || error instanceof DatabaseUnavailable)
    return error;
  const { code = '' } = error;
  const kind = constraintKinds[code];
  if (kind) return new ConstraintViolation(kind, constraintName(kind, error), error);
  if (isUnavailable(error))
    return new DatabaseUnavailable(`The database is not available: ${error.message}`, { cause: error });
  return error;
}

// A not-null violation names a column and no constraint.
function constraintName(kind: ConstraintViolation['kind'], error: VendorError): string {
  if (kind === 'notNull') return `${error.table ?? ''}.${error.column ?? ''}`;
  return error.constraint ?? '';
}

export function isUnavailable(error: unknown): boolean {
  if (!isVendorError(error)) return false;
  if (error instanceof DatabaseUnavailable) return true;
  const { code = '', message } = error;
  // A host with several addresses fails with an AggregateError whose own message is empty.
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  return unavailableCodes.has(code) || unavailableStates.test(code) || unavailableMessages.test(message);
}
