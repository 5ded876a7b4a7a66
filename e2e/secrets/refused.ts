import assert from 'node:assert/strict';
import { ApiError } from '@parley/server';

/** What must be refused was. */
export async function refused(call: Promise<unknown>): Promise<void> {
  await assert.rejects(call, ApiError);
}
