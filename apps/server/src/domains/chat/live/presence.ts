import type { Limits, Presence } from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Cursors } from '../../../core/cursors.ts';
import type { Answer } from '../../../core/handlers.ts';
import type { Bus, ExpiringEntry, ExpiringSets } from '../../../core/ports.ts';
import { type PageOf, pageByUser } from '../dashboard/user-pages.ts';
import type { Hub } from './hub.ts';
import { createPresenceSteps } from './presence-steps.ts';

interface PresenceDeps {
  expiringSets: ExpiringSets;
  bus: Pick<Bus, 'onGap'>;
  clock: Clock;
  cursors: Cursors;
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
  /** When the connection last sent something. */
  lastSeenAt: number;
  stored: Stored;
}

/** What the shared store says of a place, as far as that is known: then it need not be written again. */
export interface Stored {
  seen: string | null;
}

export type PresenceOf = ReturnType<typeof createPresence>;

const sweepMax = 500;
/** Connections of a conversation, each with who it is. */
const connectionsOf = (conversationId: string): string => `presence/${conversationId}`;
/** Those of its users who were last published as away: none of their connections is online. */
const awayOf = (conversationId: string): string => `away/${conversationId}`;
/** Forgotten when they come or go; this is for what a killed process left. */
const awayTtlMs = 24 * 60 * 60 * 1000;
/** Its users: enter and leave are published once a user, however many tabs they have. */
const usersOf = (conversationId: string): string => `present/${conversationId}`;

export function createPresence({ expiringSets, bus, clock, cursors, hub, limits }: PresenceDeps) {
  const ttlMs = limits.CHAT_PRESENCE_TTL_SECONDS * 1000;
  /** How far `lastSeenAt` may be off. Who sends a heartbeat as often has been heard by every refresh. */
  const beatMs = ttlMs / 3;
  let losses = 0;
  // The shared store may have lost what it had, as when a replica takes over: the next refresh writes everything.
  bus.onGap(() => {
    losses++;
  });
  const { enter, leave } = createPresenceSteps({ enterAll, leaveAll });

  const isBeating = ({ lastSeenAt }: Place): boolean => clock.now() - lastSeenAt <= beatMs;

  /** What is to be seen of a place beside who it is. */
  const seenOf = (place: Place): string =>
    `${place.status} ${place.since} ${isBeating(place) ? 'beats' : Math.round(place.lastSeenAt / 1000)} ${losses}`;

  function valueFor(place: Place): string {
    const { userId, status, since, lastSeenAt } = place;
    return JSON.stringify({ userId, status, since, lastSeenAt, beats: isBeating(place) } satisfies Seen);
  }

  /** All of them in one command, with a second one only where something has changed or expired. */
  async function refresh(places: readonly Place[], isHere: (place: Place) => boolean): Promise<void> {
    const [kept, changed]: [Place[], Place[]] = [[], []];
    for (const place of places) (place.stored.seen === seenOf(place) ? kept : changed).push(place);
    await Promise.all([changed.length > 0 && touchAll(changed), kept.length > 0 && prolong(kept, isHere)]);
  }

  async function prolong(places: readonly Place[], isHere: (place: Place) => boolean): Promise<void> {
    const live = await expiringSets.prolongAll(entriesOf(places), ttlMs);
    const expired = places.filter((place, at) => !(live[at] && live[places.length + at]) && isHere(place));
    if (expired.length > 0) await touchAll(expired);
  }

  /** The connections, then the users. */
  const entriesOf = (places: readonly Place[], value?: (place: Place) => string): ExpiringEntry[] => [
    ...places.map((place) => ({
      set: connectionsOf(place.conversationId),
      member: place.connectionId,
      ...(value && { value: value(place) }),
    })),
    ...places.map(({ conversationId, userId }) => ({ set: usersOf(conversationId), member: userId })),
  ];

  function noteStored(places: readonly Place[], seen: readonly string[]): void {
    for (const [at, { stored }] of places.entries()) stored.seen = seen[at] ?? null;
  }

  /** All of them in one command; says of each whether its user was not there before. */
  async function touchAll(places: readonly Place[]): Promise<boolean[]> {
    const seen = places.map(seenOf);
    // Until it is answered, and when it is not, nobody knows.
    noteStored(places, []);
    const touched = await expiringSets.touchAll(entriesOf(places, valueFor), ttlMs).catch((error) => {
      noteStored(places, []);
      throw error;
    });
    noteStored(places, seen);
    const entered = new Set<string>();
    return places.map((place, at) => {
      const isNew = touched[places.length + at] === true;
      const { conversationId, userId, status } = place;
      // Also after an expiry that was published as a leave: a user who sends again has entered again.
      if (isNew && !entered.has(keyOf(place))) {
        hub.broadcast(conversationId, 'presence', { userId, status, event: 'enter' });
      }
      if (isNew) entered.add(keyOf(place));
      return isNew;
    });
  }

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

  async function connections(conversationId: string): Promise<Seen[]> {
    const members = await expiringSets.members(connectionsOf(conversationId));
    return members.map(({ value, expiresAt }) => {
      // We wrote it.
      const seen = JSON.parse(value) as Seen;
      return seen.beats ? { ...seen, lastSeenAt: Math.max(seen.lastSeenAt, expiresAt - ttlMs) } : seen;
    });
  }

  /** Whoever is present, without more about them. */
  const users = async (conversationId: string): Promise<string[]> =>
    (await expiringSets.members(usersOf(conversationId))).map(({ member }) => member);

  /** Two people part: each is gone for the other; or they meet again, and who is here has entered. */
  async function hush(conversationId: string, isSilent: boolean): Promise<void> {
    const present = [...byUser(await connections(conversationId).catch(() => []))];
    const seen = present.map(([userId, own]) =>
      isSilent
        ? ({ conversationId, userId, status: 'OFFLINE', event: 'leave' } as const)
        : ({ conversationId, userId, status: combined(own), event: 'enter' } as const),
    );
    hub.silence(conversationId, isSilent, seen);
  }

  /** `only` is who sees nobody but themselves. */
  async function list(conversationId: string, query: PageOf, only?: string): Promise<Answer<Presence[]>> {
    const all = (await connections(conversationId)).filter(({ userId }) => only === undefined || userId === only);
    const present = [...byUser(all)].map(([userId, own]) => ({
      userId,
      status: combined(own),
      since: iso(Math.min(...own.map(({ since }) => since))),
      lastSeenAt: iso(Math.max(...own.map(({ lastSeenAt }) => lastSeenAt))),
      connections: own.length,
    }));
    return pageByUser(cursors, connectionsOf(conversationId), present, query);
  }

  /** Which of these users look at the conversation: present, and not away; in their order. */
  async function areOnline(conversationId: string, userIds: readonly string[]): Promise<boolean[]> {
    const [present, away] = await Promise.all(
      [usersOf(conversationId), awayOf(conversationId)].map((set) => expiringSets.includes(set, userIds)),
    );
    return userIds.map((_, at) => present?.[at] === true && away?.[at] !== true);
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

  return { refresh, enter, update, leave, hush, users, list, areOnline, sweep };
}

const keyOf = ({ conversationId, userId }: Place): string => `${conversationId}/${userId}`;

/** One connection of a user, as it was written. */
interface Seen extends Pick<Place, 'userId' | 'status' | 'since' | 'lastSeenAt'> {
  /** Heard not long before it was refreshed, also by a refresh that did not write it. */
  beats?: boolean;
}

/** A user is online while any of their tabs is. */
const combined = (own: readonly Seen[]): Place['status'] =>
  own.some(({ status }) => status === 'ONLINE') ? 'ONLINE' : 'AWAY';

function byUser(all: readonly Seen[]): Map<string, Seen[]> {
  const users = new Map<string, Seen[]>();
  for (const one of all) {
    const own = users.get(one.userId);
    if (own) own.push(one);
    else users.set(one.userId, [one]);
  }
  return users;
}
