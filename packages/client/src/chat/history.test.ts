import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../errors.ts';
import { createHistory, type HistoryOptions } from './history.ts';
import type { Message, MessageRecord } from './records.ts';

/** A conversation of `total` messages at a server whose pages hold at most `pageMax`. */
function historyOf(total: number, pageMax: number) {
  const asked: (number | undefined)[] = [];
  const http = {
    async call(_method: string, _path: string, { query }: { query?: { limit?: number; before?: string } } = {}) {
      asked.push(query?.limit);
      const size = query?.limit ?? Math.min(50, pageMax);
      if (size > pageMax) throw new ApiError({ code: 'SVC_VALIDATION_FAILED', message: 'limit is too large.' });
      const from = Number(query?.before ?? total);
      const seqs = Array.from({ length: Math.min(size, from) }, (_, at) => from - at);
      const next = from - seqs.length;
      // What the test looks at.
      const messages = seqs.map((seq) => ({ seq })) as MessageRecord[];
      return { messages, nextCursor: next > 0 ? String(next) : null, latestCursor: String(total) };
    },
  };
  const read = (options: HistoryOptions) =>
    createHistory(
      http,
      'conv_1',
      options,
      (records) => records as unknown as Message[],
      () => 0,
    );
  return { asked, read };
}

async function all(history: AsyncIterable<Message>): Promise<number> {
  let count = 0;
  for await (const _ of history) count++;
  return count;
}

test('[SDK-15] a server with smaller pages is asked for as many as it gives, and gives everything', async () => {
  const { asked, read } = historyOf(95, 20);
  assert.equal(await all(read({})), 95);
  // Refused once, not once a page.
  assert.deepEqual(asked, [100, undefined, 20, 20, 20, 20]);
  assert.equal(await all(read({ limit: 45 })), 45);
  assert.equal((await read({ limit: 60 })).items.length, 20);
  assert.equal((await read({})).items.length, 20);
});

test('[SDK-15] a page is as long as asked for, up to what a server usually allows', async () => {
  const { asked, read } = historyOf(300, 100);
  assert.equal((await read({ limit: 60 })).items.length, 60);
  assert.equal((await read({})).items.length, 50);
  assert.equal(await all(read({ limit: 130 })), 130);
  assert.deepEqual(asked, [60, undefined, 100, 30]);
});

test('[SDK-15] a refusal that has nothing to do with the size is reported', async () => {
  const calls: object[] = [];
  const http = {
    async call(_method: string, _path: string, { query }: { query?: object } = {}) {
      calls.push(query ?? {});
      throw new ApiError({ code: 'SVC_VALIDATION_FAILED', message: 'No.' });
    },
  };
  await assert.rejects(
    async () =>
      createHistory(
        http,
        'conv_1',
        { limit: 10 },
        () => [],
        () => 0,
      ),
    {
      code: 'SVC_VALIDATION_FAILED',
    },
  );
  assert.equal(calls.length, 2);
});
