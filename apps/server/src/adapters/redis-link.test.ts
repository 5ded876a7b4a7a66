import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createLink } from './redis-link.ts';
import type { Store } from './redis-stores.ts';

const never = new Promise<never>(() => {});

/** A store with two servers, each of which answers or is silent. */
function openStore(name: string, areAnswering: readonly [boolean, boolean]) {
  const ready: (() => void)[] = [];
  const state = { isReady: false, isDestroyed: false };
  const store: Store = {
    get isReady() {
      return state.isReady;
    },
    onReady: (listener) => void ready.push(listener),
    pings: () => areAnswering.map((isAnswering) => (isAnswering ? Promise.resolve() : never)),
    placeOf: () => name,
    busNodes: () => [],
    evalSha: async () => name,
    eval: async () => name,
    publish: async () => name,
    del: async () => name,
    destroy() {
      state.isDestroyed = true;
    },
  };
  const setReady = (): void => {
    state.isReady = true;
    for (const listener of ready) listener();
  };
  return { store, state, setReady };
}

function openLink(t: TestContext, areAnswering: readonly [boolean, boolean]) {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const stores: ReturnType<typeof openStore>[] = [];
  const link = createLink(() => {
    const opened = openStore(`store ${stores.length}`, areAnswering);
    stores.push(opened);
    return opened.store;
  });
  t.after(link.close);
  const command = link.lane('');
  stores[0]?.setReady();
  /** Pings, each with the time that its answer takes. */
  async function pass(pings: number): Promise<void> {
    for (let at = 0; at < pings; at++) {
      t.mock.timers.tick(800);
      await turn();
    }
  }
  return { link, stores, pass, ask: () => command((commands) => commands.publish('', '')) };
}

test('[STA-28] a store of which a part is silent serves until another one is ready, and goes when it has answered', async (t) => {
  const { link, stores, pass, ask } = openLink(t, [true, false]);
  await pass(4);
  assert.deepEqual([stores.length, stores[0]?.state.isDestroyed, await ask()], [2, false, 'store 0']);
  // That one finds nobody; a third one is tried.
  await pass(4);
  assert.deepEqual([stores.length, stores[1]?.state.isDestroyed, await ask()], [3, true, 'store 0']);
  stores[1]?.setReady();
  assert.equal(await ask(), 'store 0');
  stores[2]?.setReady();
  assert.deepEqual([stores[0]?.state.isDestroyed, await ask()], [false, 'store 2']);
  await pass(3);
  assert.equal(stores[0]?.state.isDestroyed, true);
  await pass(1);
  await link.close();
  assert.deepEqual(
    stores.map(({ state }) => state.isDestroyed),
    [true, true, true, true],
  );
});

test('[STA-6] a store that answers nothing at all is replaced at once', async (t) => {
  const { stores, pass } = openLink(t, [false, false]);
  await pass(4);
  assert.deepEqual([stores.length, stores[0]?.state.isDestroyed], [2, true]);
});

test('[STA-6] a store that answers stays', async (t) => {
  const { stores, pass } = openLink(t, [true, true]);
  await pass(9);
  assert.deepEqual([stores.length, stores[0]?.state.isDestroyed], [1, false]);
});
