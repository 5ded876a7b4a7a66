import { isConflict, isStalePlan, isUnavailable } from '../shared/errors.ts';

/** What came of one attempt. `broken` is the error after which the connection cannot be used again. */
export type Outcome<T> =
  | { status: 'done'; value: T; broken?: undefined }
  | { status: 'conflict' | 'failed'; error: unknown; broken: unknown };

export const isRetryable = (error: unknown): boolean => isConflict(error) || isStalePlan(error);

export async function attemptStatement<T>(statement: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { status: 'done', value: await statement() };
  } catch (error) {
    const broken = isUnavailable(error) ? error : undefined;
    return { status: isRetryable(error) ? 'conflict' : 'failed', error, broken };
  }
}
