import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@parley/server/call';
import { isLimited } from './queries.ts';

test('[DASH-4] while a limit is counted down nothing is asked for, whatever the page is told of', () => {
  const limited = answered(429, { retryAfterSeconds: 3 });
  assert.equal(isLimited({ error: limited, errorUpdatedAt: 1_000 }, 3_999), true);
  assert.equal(isLimited({ error: limited, errorUpdatedAt: 1_000 }, 4_000), false);
  assert.equal(isLimited({ error: answered(500, {}), errorUpdatedAt: 1_000 }, 1_000), false);
  assert.equal(isLimited({ error: null, errorUpdatedAt: 1_000 }, 1_000), false);
});

function answered(status: number, more: { retryAfterSeconds?: number }): ApiError {
  const code = status === 429 ? 'SVC_RATE_LIMITED' : 'SVC_INTERNAL';
  const body = { code, legacyCode: code, message: 'No.', requestId: 'req_1', path: '/', ...more };
  return new ApiError(status, body, new Headers());
}
