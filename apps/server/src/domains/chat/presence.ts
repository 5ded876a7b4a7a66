import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Limits, Presence } from '@parley/contract';
import { iso } from '../../core/clock.ts';
import type { ExpiringSets } from '../../core/ports.ts';
import type { Hub } from './hub.ts';

export interface PresenceDeps {
  expiringSets: ExpiringSets;
  hub: Hub;
  limits: Limits;
}

/** One connection's place in one conversation. */
export interface Place {
  conversationId: string;
  userId: string;
  connectionId: string;
  status: 'ONLINE' | 'AWAY';
  since: number;
}

export type PresenceOf = ReturnType<typeof createPresence>;

const sweepMax = 500;
/** Connections of a conversation, each with who it is. */
const connectionsOf = (conversationId: string): string => `presence/${conversationId}`;
/** Its users: coming and going is told once a user, however many tabs they have. */
const usersOf = (conversationId: string): string => `present/${conversationId}`;

export function createPresence({ expiringSets, hub, limits }: PresenceDeps) {
  const ttlMs = limits.CHAT_PRESENCE_TTL_SECONDS * 1000;
  const leaving = new Map<string, { places: Place[]; done: Promise<void> }>();

  async function refresh({ conversationId, userId, connectionId, status, since }: Place): Promise<boolean> {
    const value = JSON.stringify({ userId, status, since });
    await expiringSets.touch(connectionsOf(conversationId), connectionId, ttlMs, value);
    const { isNew } = await expiringSets.touch(usersOf(conversationId), userId, ttlMs);
    // Also after an expiry that was told as a leave: whoever is heard of again has come again.
    if (isNew) hub.tell(conversationId, 'presence', { userId, status, event: 'enter' });
    return isNew;
  }

  async function update(place: Place, data: object | null | undefined): Promise<void> {
    const { conversationId, userId, status } = place;
    const isNew = await refresh(place);
    if (!isNew) hub.tell(conversationId, 'presence', { userId, status, event: 'update', ...(data ? { data } : {}) });
  }

  /** The last connection of a user takes the user with it. Whoever else leaves in this turn is looked after with them. */
  function leave(place: Place): Promise<void> {
    const { conversationId } = place;
    const known = leaving.get(conversationId);
    if (known) {
      known.places.push(place);
      return known.done;
    }
    const places = [place];
    const done = nextTurn().then(() => {
      leaving.delete(conversationId);
      return leaveAll(conversationId, places);
    });
    leaving.set(conversationId, { places, done });
    return done;
  }

  async function leaveAll(conversationId: string, places: readonly Place[]): Promise<void> {
    const set = connectionsOf(conversationId);
    await Promise.all(places.map(({ connectionId }) => expiringSets.remove(set, connectionId)));
    const staying = new Set((await connections(conversationId)).map(({ userId }) => userId));
    const users = new Set(places.map(({ userId }) => userId));
    const gone = [...users].filter((userId) => !staying.has(userId));
    await Promise.all(gone.map((userId) => leaveAsUser(conversationId, userId)));
  }

  async function leaveAsUser(conversationId: string, userId: string): Promise<void> {
    if (await expiringSets.remove(usersOf(conversationId), userId)) tellLeave(conversationId, userId);
  }

  const tellLeave = (conversationId: string, userId: string): void =>
    hub.tell(conversationId, 'presence', { userId, status: 'OFFLINE', event: 'leave' });

  async function connections(conversationId: string) {
    const members = await expiringSets.members(connectionsOf(conversationId));
    return members.map(({ value, expiresAt }) => ({
      // We wrote it.
      ...(JSON.parse(value) as Pick<Place, 'userId' | 'status' | 'since'>),
      lastSeenAt: expiresAt - ttlMs,
    }));
  }

  async function list(conversationId: string): Promise<Presence[]> {
    const byUser = new Map<string, Awaited<ReturnType<typeof connections>>>();
    for (const one of await connections(conversationId)) {
      byUser.set(one.userId, [...(byUser.get(one.userId) ?? []), one]);
    }
    return [...byUser].map(([userId, own]) => ({
      userId,
      status: own.some(({ status }) => status === 'ONLINE') ? 'ONLINE' : 'AWAY',
      since: iso(Math.min(...own.map(({ since }) => since))),
      lastSeenAt: iso(Math.max(...own.map(({ lastSeenAt }) => lastSeenAt))),
      connections: own.length,
    }));
  }

  /** Expiry is the offline transition: told once, by whichever process finds it. */
  async function sweep(): Promise<void> {
    await expiringSets.sweep('presence/', sweepMax);
    for (const { set, member } of await expiringSets.sweep('present/', sweepMax)) {
      tellLeave(set.slice('present/'.length), member);
    }
  }

  return { refresh, update, leave, list, sweep };
}
