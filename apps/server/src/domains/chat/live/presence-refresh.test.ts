import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLimits } from '@parley/contract';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { createMemoryExpiringSets } from '../../../adapters/expiring-sets/memory.ts';
import { createCursors } from '../../../core/cursors.ts';
import { createKeyring } from '../../../core/keyring.ts';
import type { Hub } from './hub.ts';
import { createPresence } from './presence.ts';
import { createPresenceRefresh, presenceTurns } from './presence-refresh.ts';
import type { Place } from './presence-sets.ts';
import type { Client, Subscription } from './subscriptions.ts';

/** What the refresh reads of a client and of a subscription. */
function sit(conversationId: string, at: number): [Client, Subscription] {
  const client = { connection: { id: `c${at}`, lastSeenAt: 0 }, status: 'ONLINE' };
  const subscription = { channel: { conversationId }, userId: `u${at}`, since: 0, stored: { seen: null } };
  return [client as Client, subscription as Subscription];
}

test('[STA-10] all conversations of a turn are refreshed by one command, with all their people, once a round; one without people costs nothing', async () => {
  const calls: (readonly Place[])[] = [];
  const refresh = createPresenceRefresh(async (places) => void calls.push(places));
  const round = async () => {
    calls.length = 0;
    for (let turn = 0; turn < presenceTurns; turn++) await refresh.refresh();
    return calls;
  };
  const people = Array.from({ length: 360 }, (_, at) => sit(`conv${at % 120}`, at));
  for (const person of people) refresh.entered(...person);
  assert.deepEqual(
    (await round()).map((places) => [new Set(places.map((place) => place.conversationId)).size, places.length]),
    Array.from({ length: presenceTurns }, () => [2, 6]),
  );
  for (const person of people.slice(1)) refresh.left(...person);
  assert.deepEqual(
    (await round()).map((places) => places.map(({ connectionId }) => connectionId)),
    [['c0']],
  );
  for (const person of people.slice(0, 1)) refresh.left(...person);
  assert.deepEqual(await round(), []);
});

/** Presence on sets that count what they are asked. */
function openPresence() {
  const clock = createFakeClock();
  const sets = createMemoryExpiringSets(clock);
  const asked: string[] = [];
  let gap = (): void => {};
  const said: unknown[] = [];
  const counted = Object.fromEntries(
    Object.entries(sets).map(([name, call]) => [
      name,
      (...args: never[]) => {
        asked.push(name);
        return (call as (...args: never[]) => unknown)(...args);
      },
    ]),
  ) as unknown as typeof sets;
  const hub = {
    broadcast: (conversationId: string, _: string, fields: object) => said.push({ conversationId, ...fields }),
  };
  const presence = createPresence({
    expiringSets: counted,
    bus: {
      onGap(listener) {
        gap = listener;
        return () => {};
      },
    },
    clock,
    cursors: createCursors(createKeyring('a key of this test')),
    hub: hub as unknown as Hub,
    limits: readLimits({}).limits,
  });
  return { presence, clock, gap: () => gap(), asked, said };
}

const placeIn = (conversationId: string, at: number, status: Place['status'] = 'ONLINE'): Place => ({
  conversationId,
  userId: `u${at}`,
  connectionId: `c${at}/${status}`,
  status,
  since: 0,
  lastSeenAt: 0,
  stored: { seen: null },
});

test('[PRES-7] a refresh writes of a present connection only what has changed since it was written, or was perhaps lost', async () => {
  const { presence, clock, gap, asked, said } = openPresence();
  const places = [placeIn('conv', 1), placeIn('conv', 2)].map((place) => ({ ...place, lastSeenAt: clock.now() }));
  const [one, other] = places;
  assert.ok(one && other);
  const refresh = async (now: readonly Place[], isHere = () => true) => {
    asked.length = 0;
    await presence.refresh(now, isHere);
    return asked;
  };
  await Promise.all(places.map(presence.enter));
  assert.deepEqual(await refresh(places), ['prolongAll']);
  clock.jump(15_000);
  const heard = places.map((place) => ({ ...place, lastSeenAt: clock.now() }));
  assert.deepEqual(await refresh(heard), ['prolongAll'], 'a heartbeat later');
  const silent = [...heard.slice(0, 1), { ...other, lastSeenAt: clock.now() - 16_000 }];
  assert.deepEqual(await refresh(silent), ['touchAll', 'prolongAll']);
  assert.deepEqual(await refresh(silent), ['prolongAll']);
  const seen = (await presence.list('conv', { limit: 10 })).body.map(({ lastSeenAt }) => Date.parse(lastSeenAt));
  assert.deepEqual(seen, [clock.now(), clock.now() - 16_000]);
  assert.deepEqual(await refresh([{ ...one, status: 'AWAY', lastSeenAt: clock.now() }]), ['touchAll']);
  gap();
  assert.deepEqual(await refresh(silent), ['touchAll']);

  said.length = 0;
  clock.jump(46_000);
  const late = places.map((place) => ({ ...place, lastSeenAt: clock.now() }));
  await refresh(late);
  clock.jump(46_000);
  const later = places.map((place) => ({ ...place, lastSeenAt: clock.now() }));
  assert.deepEqual(await refresh(later), ['prolongAll', 'touchAll'], 'they had expired');
  assert.deepEqual(
    said.map((frame) => (frame as { event: string }).event),
    ['enter', 'enter', 'enter', 'enter'],
  );
  clock.jump(46_000);
  const gone = places.map((place) => ({ ...place, lastSeenAt: clock.now() }));
  assert.deepEqual(await refresh(gone, () => false), ['prolongAll'], 'who has left meanwhile does not come back');
});

test('[STA-10] who enters in one turn does so in one command, and each is announced', async () => {
  const { presence, asked, said } = openPresence();
  await Promise.all(Array.from({ length: 500 }, (_, at) => presence.enter(placeIn(`conv${at % 50}`, at))));
  assert.deepEqual(asked, ['touchAll', 'removeAll']);
  assert.equal(said.length, 500);
});

test('[STA-10] who leaves in one turn does so in one command, and each conversation is settled once', async () => {
  const { presence, asked, said } = openPresence();
  const places = Array.from({ length: 500 }, (_, at) => placeIn(`conv${at % 50}`, at));
  await Promise.all(places.map(presence.enter));
  asked.length = said.length = 0;
  await Promise.all(places.map(presence.leave));
  // Then of each conversation: who stays, who has left, and that those are not away.
  const ofEach = ['members', 'removeAll', 'removeAll'].flatMap((name) => Array.from({ length: 50 }, () => name));
  assert.deepEqual(asked.toSorted(), ['removeAll', ...ofEach].toSorted());
  assert.equal(said.length, 500);
});

test('[STA-14] enter and leave of one connection keep their order, within a turn and while the store is slow', async () => {
  const { presence, said } = openPresence();
  const place = placeIn('conv', 1);
  const here = async () => (await presence.list('conv', { limit: 10 })).body.length;
  await Promise.all([presence.enter(place), presence.leave(place)]);
  assert.equal(await here(), 0);
  await Promise.all([presence.enter(place), presence.leave(place), presence.enter(place)]);
  assert.equal(await here(), 1);
  const leaving = presence.leave(place);
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([leaving, presence.enter(place)]);
  assert.equal(await here(), 1);
  said.length = 0;
  // A user who changes tabs stays.
  await Promise.all([presence.leave(place), presence.enter({ ...place, connectionId: 'another' })]);
  assert.deepEqual([await here(), said], [1, []]);
});

test('[STA-10] [PRES-1] tabs of one user that enter in one turn are one user, online if one of them is', async () => {
  const { presence, said } = openPresence();
  await Promise.all([presence.enter(placeIn('conv', 1, 'AWAY')), presence.enter(placeIn('conv', 1, 'ONLINE'))]);
  assert.deepEqual(said, [{ conversationId: 'conv', userId: 'u1', status: 'ONLINE', event: 'enter' }]);
  const { body } = await presence.list('conv', { limit: 10 });
  assert.deepEqual(
    body.map(({ status, connections }) => [status, connections]),
    [['ONLINE', 2]],
  );
});
