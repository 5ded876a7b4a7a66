import {
  type CloseCode,
  type ErrorRow,
  errors,
  type FrameData,
  type ServiceError,
  type SignalingServerFrames,
} from '@parley/contract';

type ErrorFields = FrameData<SignalingServerFrames['error']>;

/** On a socket a code goes without its prefix, and in full beside it. */
const shortCode = (error: ServiceError): string => error.code.slice('SVC_'.length);

/** Fields of an `error` frame. */
export function errorFields(error: ServiceError, ref: string | null, isFatal: boolean): ErrorFields {
  const row: ErrorRow = errors[error.code];
  return {
    ...(ref === null ? {} : { ref }),
    code: shortCode(error),
    svcCode: error.code,
    message: error.message,
    retryable: row.isRetryable ?? false,
    ...error.fields,
    ...(isFatal ? { fatal: true } : {}),
  };
}

/** The close code of a refusal that ends a connection: 4000 + HTTP where the table has it. */
export function closeCodeOf(error: ServiceError): CloseCode {
  const byStatus: Readonly<Record<number, CloseCode>> = { 401: 4401, 403: 4403, 404: 4404, 429: 4429, 503: 4503 };
  const { status }: ErrorRow = errors[error.code];
  return byStatus[status] ?? (status < 500 ? 4400 : 4500);
}

/** Close reasons are short texts; one that asks to wait says how long. */
export function closeReason(error: ServiceError): string {
  const wait = error.fields['retryAfterSeconds'];
  return wait === undefined ? shortCode(error) : `${shortCode(error)}; retryAfter=${wait}`;
}
