import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ServiceError } from '@parley/contract';
import type { FastifyInstance } from 'fastify';
import { startSockets, type TestSockets } from '../../testkit/clients/sockets.ts';
import { createHttpServer } from '../http/server.ts';
import { BatcherFull } from './batcher.ts';
import { DatabaseUnavailable } from './db.ts';
import { createLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { BlobsFull, BlobsUnavailable, SharedStateUnavailable } from './ports.ts';

const faults: Readonly<Record<string, unknown>> = {
  database: new DatabaseUnavailable('the database is gone'),
  sharedState: new SharedStateUnavailable('Redis is gone'),
  tooManyWaiting: new BatcherFull('100000 items are waiting'),
  blobs: new BlobsUnavailable('the bucket is gone'),
  fullBlobs: new BlobsFull('the bucket is full'),
  refusal: new ServiceError('SVC_RATE_LIMITED', { retryAfterSeconds: 41 }),
  bug: new TypeError('a detail of ours'),
  notAnError: 'thrown text',
};

const expected: Readonly<Record<string, object>> = {
  database: { code: 'SVC_SERVICE_UNAVAILABLE', retryAfterSeconds: 2 },
  sharedState: { code: 'SVC_SERVICE_UNAVAILABLE', retryAfterSeconds: 2 },
  tooManyWaiting: { code: 'SVC_SERVICE_UNAVAILABLE', retryAfterSeconds: 2 },
  blobs: { code: 'SVC_STORAGE_UNAVAILABLE', retryAfterSeconds: 2 },
  fullBlobs: { code: 'SVC_STORAGE_UNAVAILABLE', retryAfterSeconds: 2 },
  refusal: { code: 'SVC_RATE_LIMITED', retryAfterSeconds: 41 },
  bug: { code: 'SVC_INTERNAL' },
  notAnError: { code: 'SVC_INTERNAL' },
};

let http: FastifyInstance;
let sockets: TestSockets;
before(async () => {
  http = createHttpServer({
    table: {},
    log: createLog('silent'),
    metrics: createMetrics(),
    trustProxy: [],
    isDraining: () => false,
  });
  http.get<{ Params: { fault: string } }>('/faults/:fault', async ({ params }) => {
    throw faults[params.fault];
  });
  sockets = await startSockets({}, faults);
});
after(async () => {
  await http.close();
  await sockets.stop();
});

test('[REQ-11] HTTP and sockets answer the same fault with the same code, message and wait', async () => {
  const client = await sockets.chat();
  for (const fault of Object.keys(faults)) {
    const answer = await http.inject(`/faults/${fault}`);
    const { code, message, retryAfterSeconds } = answer.json<Record<string, unknown>>();
    const frame = await client.ask({ type: 'break', fault });
    const fromSocket = {
      code: frame['svcCode'],
      message: frame['message'],
      retryAfterSeconds: frame['retryAfterSeconds'],
    };
    assert.deepEqual({ code, message, retryAfterSeconds }, fromSocket, fault);
    assert.deepEqual(
      { code, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) },
      expected[fault],
      fault,
    );
    assert.doesNotMatch(String(message), /detail|gone|full|thrown/, 'what was thrown is never quoted');
  }
  await client.close();
});
