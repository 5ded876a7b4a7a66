import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChangeKind } from '@parley/contract';
import { followChanges, isFed, type Told } from './change-feed.ts';
import { isShown } from './change-queries.ts';

/** A page whose time stands still until the test lets it pass, and whose streams the test writes. */
function openPage() {
  const waiting: { ms: number; done: () => void }[] = [];
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  const told: Told[] = [];
  const page = { isVisible: true, refuses: false, look: () => {} };
  const until = (signal: AbortSignal, keep: (done: () => void) => void): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      signal.addEventListener('abort', () => resolve());
      keep(resolve);
    });
  const leaving = new AbortController();
  const end = followChanges(
    {
      async open(signal) {
        if (page.refuses) throw new TypeError('no network');
        return new ReadableStream({
          start(controller) {
            streams.push(controller);
            signal.addEventListener('abort', () => controller.error(new Error('aborted')));
          },
        });
      },
      tell: (changed) => told.push(changed),
      isVisible: () => page.isVisible,
      visibilityChange: (signal) =>
        until(signal, (done) => {
          page.look = done;
        }),
      wait: (ms, signal) => until(signal, (done) => waiting.push({ ms, done })),
    },
    leaving.signal,
  );
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  };
  const say = async (text: string): Promise<void> => {
    streams.at(-1)?.enqueue(new TextEncoder().encode(text));
    await settle();
  };
  return {
    page,
    streams,
    told,
    say,
    change: (...kinds: ChangeKind[]) => say(`event: change\ndata: ${JSON.stringify({ kinds })}\n\n`),
    async pass(ms: number) {
      for (const one of waiting.splice(0))
        if (one.ms <= ms) one.done();
        else waiting.push(one);
      await settle();
    },
    async see(isVisible: boolean) {
      page.isVisible = isVisible;
      page.look();
      await settle();
    },
    settle,
    async leave() {
      leaving.abort();
      await end;
    },
  };
}

test('[DASH-70] a page is told at once, then at most once a second, and of all that came meanwhile', async () => {
  const { say, change, told, pass, leave, settle } = openPage();
  await settle();
  await say(': connected\n\n');
  assert.equal(isFed(), true);
  await pass(1_000);
  assert.deepEqual(told.splice(0), [null]);
  await pass(1_000);
  await change('rooms');
  for (const kind of ['chat', 'errors', 'chat'] as const) await change(kind);
  assert.deepEqual(told.splice(0), [new Set(['rooms'])]);
  await pass(1_000);
  assert.deepEqual(told.splice(0), [new Set(['chat', 'errors'])]);
  await pass(1_000);
  assert.deepEqual(told, []);
  await leave();
  assert.equal(isFed(), false);
});

test('[DASH-71] after a gap everything is asked for once; without a stream pages ask by themselves', async () => {
  const { page, streams, told, say, pass, see, leave, settle } = openPage();
  await settle();
  await say(': connected\n\n');
  await pass(1_000);
  await pass(1_000);
  told.length = 0;
  streams.at(-1)?.close();
  await settle();
  assert.equal(streams.length, 2);
  await say(': connected\n\n');
  assert.deepEqual(told.splice(0), [null]);
  await pass(1_000);
  // Nobody looks: no stream. Seen again: a new one.
  await see(false);
  assert.equal(isFed(), false);
  await see(true);
  assert.equal(streams.length, 3);
  await say(': connected\n\n');
  assert.deepEqual(told.splice(0), [null]);
  await pass(1_000);
  // Silent for a minute, and then refused.
  page.refuses = true;
  await pass(60_000);
  assert.equal(isFed(), false);
  assert.deepEqual(told.splice(0), [null]);
  page.refuses = false;
  await pass(10_000);
  assert.equal(streams.length, 4);
  await leave();
});

test('[DASH-70] what shows a kind is asked for, and nothing else', () => {
  const shown = (key: readonly unknown[], ...kinds: ChangeKind[]) => isShown(key, new Set(kinds));
  assert.ok(shown(['project', 'p', 'rooms', 'DEVELOPMENT'], 'rooms'));
  assert.ok(shown(['project', 'p'], 'project') && shown(['projects'], 'project'));
  assert.ok(shown(['fleet', 'servers'], 'nodes') && shown(['usage'], 'chat', 'connections'));
  assert.ok(!shown(['project', 'p', 'rooms'], 'project', 'chat', 'webhooks', 'nodes'));
  assert.ok(isShown(['project', 'p', 'audit'], null) && !isShown(['new-totp'], null));
});
