import type { Limits } from '@parley/contract';
import type { Clock } from '../../../core/clock.ts';
import type { Cursors } from '../../../core/cursors.ts';
import type { Bus, ExpiringSets } from '../../../core/ports.ts';
import type { Hub } from './hub.ts';
import { createPresenceLists } from './presence-lists.ts';
import { createPresencePlaces } from './presence-places.ts';
import {
  awayOf,
  awayTtlMs,
  byUser,
  combined,
  connectionsOf,
  keyOf,
  type Place,
  type Seen,
  usersOf,
} from './presence-sets.ts';
import { createPresenceSteps } from './presence-steps.ts';

interface PresenceDeps {
  expiringSets: ExpiringSets;
  bus: Pick<Bus, 'onGap'>;
  clock: Clock;
  cursors: Cursors;
  hub: Hub;
  limits: Limits;
}

export type PresenceOf = ReturnType<typeof createPresence>;

const sweepMax = 500;

/** Who enters, leaves and changes, as others hear of it: a user once, however many tabs they have. */
export function createPresence({ expiringSets, bus, clock, cursors, hub, limits }: PresenceDeps) {
  const ttlMs = limits.CHAT_PRESENCE_TTL_SECONDS * 1000;
  const { refresh, touchAll } = createPresencePlaces({ expiringSets, bus, clock, hub, ttlMs });
  const { connections, users, list, areOnline } = createPresenceLists({ expiringSets, cursors, ttlMs });
  const { enter, leave } = createPresenceSteps({ enterAll, leaveAll });

  /** Another tab of a user who is away makes them online. */
  async function enterAll(places: readonly Place[]): Promise<void> {
    const online = places.filter(({ status }) => status === 'ONLINE');
    const keys = new Set(online.map(keyOf));
    // One of their other tabs enters online just now.
    const away = places.filter((place) => place.status === 'AWAY' && !keys.has(keyOf(place)));
    const rest = places.filter((place) => place.status === 'AWAY' && keys.has(keyOf(place)));
    const isNew = await touchAll([...online, ...away, ...rest]);
    const wereAway = await expiringSets.removeAll(
      online.map(({ conversationId, userId }) => ({ set: awayOf(conversationId), member: userId })),
    );
    for (const [at, { conversationId, userId }] of online.entries()) {
      if (wereAway[at] && !isNew[at]) publishUpdate(conversationId, userId, 'ONLINE');
    }
    const newAway = away.filter((_, at) => isNew[online.length + at]);
    await Promise.all(newAway.map(({ conversationId, userId }) => setStatus(conversationId, userId, 'AWAY')));
  }

  async function update(place: Place, data: Record<string, unknown> | null | undefined): Promise<void> {
    const { conversationId, userId } = place;
    const [isNew] = await touchAll([place]);
    const status = place.status === 'ONLINE' ? 'ONLINE' : await statusOf(conversationId, userId);
    await setStatus(conversationId, userId, status);
    if (!isNew) publishUpdate(conversationId, userId, status, data);
  }

  const statusOf = async (conversationId: string, userId: string): Promise<Place['status']> =>
    combined((await connections(conversationId)).filter((one) => one.userId === userId));

  /** True when it was another before. */
  async function setStatus(conversationId: string, userId: string, status: Place['status']): Promise<boolean> {
    if (status === 'ONLINE') return expiringSets.remove(awayOf(conversationId), userId);
    return (await expiringSets.touch(awayOf(conversationId), userId, awayTtlMs)).isNew;
  }

  function publishUpdate(
    conversationId: string,
    userId: string,
    status: Place['status'],
    data?: Record<string, unknown> | null,
  ): void {
    hub.broadcast(conversationId, 'presence', { userId, status, event: 'update', ...(data ? { data } : {}) });
  }

  /** With the last connection its user has left. */
  async function leaveAll(places: readonly Place[]): Promise<void> {
    const users = new Map<string, Set<string>>();
    for (const { conversationId, userId } of places) {
      users.set(conversationId, (users.get(conversationId) ?? new Set()).add(userId));
    }
    const ended = places.map(({ conversationId, connectionId }) => ({
      set: connectionsOf(conversationId),
      member: connectionId,
    }));
    // A server that is away must not keep those on others: who could not be removed is seen as staying.
    const [removed] = await Promise.allSettled([expiringSets.removeAll(ended)]);
    await settle(users);
    if (removed.status === 'rejected') throw removed.reason;
  }

  /** After connections of these users have ended. Each conversation by itself: another's server may be away. */
  async function settle(users: ReadonlyMap<string, ReadonlySet<string>>): Promise<void> {
    const outcomes = await Promise.allSettled([...users].map(([id, some]) => settleOne(id, some)));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  /** Users without a connection have left; one whose last tab that was online has gone is away. */
  async function settleOne(conversationId: string, users: ReadonlySet<string>): Promise<void> {
    const staying = byUser(await connections(conversationId));
    const gone = [...users].filter((userId) => !staying.has(userId));
    const away = [...users].filter((userId) => staying.has(userId) && combined(staying.get(userId) ?? []) === 'AWAY');
    const set = usersOf(conversationId);
    const left = await expiringSets.removeAll(gone.map((member) => ({ set, member })));
    await publishLeaves(
      conversationId,
      gone.filter((_, at) => left[at]),
    );
    const publishAway = async (userId: string): Promise<void> => {
      if (await setStatus(conversationId, userId, 'AWAY')) publishUpdate(conversationId, userId, 'AWAY');
    };
    await Promise.all(away.map(publishAway));
  }

  async function publishLeaves(conversationId: string, users: readonly string[]): Promise<void> {
    for (const userId of users)
      hub.broadcast(conversationId, 'presence', { userId, status: 'OFFLINE', event: 'leave' });
    const set = awayOf(conversationId);
    await expiringSets.removeAll(users.map((member) => ({ set, member })));
  }

  /** Two people part: each is gone for the other; or they meet again, and who is here has entered. */
  async function setSilent(conversationId: string, isSilent: boolean): Promise<void> {
    const present = [...byUser(await connections(conversationId).catch(() => []))];
    const seen = present.map(([userId, own]) =>
      isSilent
        ? ({ conversationId, userId, status: 'OFFLINE', event: 'leave' } as const)
        : ({ conversationId, userId, status: combined(own), event: 'enter' } as const),
    );
    hub.silence(conversationId, isSilent, seen);
  }

  /** Expiry is the offline transition: published once, by the process that finds it. */
  async function sweep(): Promise<void> {
    await expiringSets.sweep('away/', sweepMax);
    const expired = new Map<string, Set<string>>();
    for (const { set, value } of await expiringSets.sweep('presence/', sweepMax)) {
      const conversationId = set.slice('presence/'.length);
      const { userId } = JSON.parse(value) as Seen;
      expired.set(conversationId, (expired.get(conversationId) ?? new Set()).add(userId));
    }
    await settle(expired);
    for (const { set, member } of await expiringSets.sweep('present/', sweepMax)) {
      await publishLeaves(set.slice('present/'.length), [member]);
    }
  }

  return { refresh, enter, update, leave, setSilent, users, list, areOnline, sweep };
}
