import { ApiError } from '@parley/server';

/** For `assert.rejects`: the service refused with this code. */
export const failure =
  (code: string) =>
  (error: unknown): boolean =>
    error instanceof ApiError && error.code === code;
