import { type ErrorCode, ServiceError } from '@parley/contract';
import { BatcherFull } from './batcher.ts';
import { DatabaseUnavailable } from './db.ts';
import { BlobsUnavailable, SharedStateUnavailable } from './ports.ts';

type FaultClass = new (...parameters: never[]) => Error;

/** Faults of what the service stands on, and the error a caller gets for each. All of them are retryable. */
const unavailable: readonly (readonly [FaultClass, ErrorCode])[] = [
  [DatabaseUnavailable, 'SVC_SERVICE_UNAVAILABLE'],
  [SharedStateUnavailable, 'SVC_SERVICE_UNAVAILABLE'],
  [BatcherFull, 'SVC_SERVICE_UNAVAILABLE'],
  [BlobsUnavailable, 'SVC_STORAGE_UNAVAILABLE'],
];

const retryAfterSeconds = 2;

/**
 * The error that HTTP and sockets answer with, whatever was thrown. What is not in the contract is `SVC_INTERNAL`: a
 * bug, which the door logs and never quotes.
 */
export function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  const [, code] = unavailable.find(([fault]) => thrown instanceof fault) ?? [];
  return code ? new ServiceError(code, { retryAfterSeconds }) : new ServiceError('SVC_INTERNAL');
}
