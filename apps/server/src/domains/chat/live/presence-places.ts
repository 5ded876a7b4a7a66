import type { Clock } from '../../../core/clock.ts';
import type { Bus, ExpiringEntry, ExpiringSets } from '../../../core/ports.ts';
import type { Hub } from './hub.ts';
import { connectionsOf, keyOf, type Place, type Seen, type Shown, usersOf } from './presence-sets.ts';

interface PresencePlacesDeps {
  expiringSets: Pick<ExpiringSets, 'prolongAll' | 'touchAll'>;
  bus: Pick<Bus, 'onGap'>;
  clock: Clock;
  hub: Pick<Hub, 'broadcast'>;
  ttlMs: number;
}

/** Places of this process in the shared store: written when they have changed, else only prolonged. */
export function createPresencePlaces({ expiringSets, bus, clock, hub, ttlMs }: PresencePlacesDeps) {
  /** How far `lastSeenAt` may be off. Who sends a heartbeat as often has been heard by every refresh. */
  const beatMs = ttlMs / 3;
  let losses = 0;
  // The shared store may have lost what it had, as when a replica takes over: the next refresh writes everything.
  bus.onGap(() => {
    losses++;
  });

  const isBeating = ({ lastSeenAt }: Place): boolean => clock.now() - lastSeenAt <= beatMs;

  const lastSeenOf = (place: Place): number | null => (isBeating(place) ? null : Math.round(place.lastSeenAt / 1000));

  const shownOf = (place: Place): Shown => {
    const { status, since } = place;
    return { status, since, lastSeen: lastSeenOf(place), losses };
  };

  /** The store has all that is to be seen. Everybody is asked several times a minute: nothing is made for it. */
  function isStored(place: Place): boolean {
    const { seen } = place.stored;
    return (
      seen?.status === place.status &&
      seen.since === place.since &&
      seen.lastSeen === lastSeenOf(place) &&
      seen.losses === losses
    );
  }

  function valueFor(place: Place): string {
    const { userId, status, since, lastSeenAt } = place;
    return JSON.stringify({ userId, status, since, lastSeenAt, beats: isBeating(place) } satisfies Seen);
  }

  /** All of them in one command, with a second one only where something has changed or expired. */
  async function refresh(places: readonly Place[], isHere: (place: Place) => boolean): Promise<void> {
    const [kept, changed]: [Place[], Place[]] = [[], []];
    for (const place of places) (isStored(place) ? kept : changed).push(place);
    await Promise.all([changed.length > 0 && touchAll(changed), kept.length > 0 && prolong(kept, isHere)]);
  }

  async function prolong(places: readonly Place[], isHere: (place: Place) => boolean): Promise<void> {
    const live = await expiringSets.prolongAll(entriesOf(places), ttlMs);
    const expired = places.filter((place, at) => !(live[at] && live[places.length + at]) && isHere(place));
    if (expired.length > 0) await touchAll(expired);
  }

  /** The connections, then the users. */
  function entriesOf(places: readonly Place[], value?: (place: Place) => string): ExpiringEntry[] {
    const [connections, users]: [ExpiringEntry[], ExpiringEntry[]] = [[], []];
    // Those of a conversation are together: one name serves all of them.
    let [known, inConnections, inUsers] = ['', '', ''];
    for (const place of places) {
      const { conversationId, connectionId, userId } = place;
      if (conversationId !== known)
        [known, inConnections, inUsers] = [conversationId, connectionsOf(conversationId), usersOf(conversationId)];
      connections.push({ set: inConnections, member: connectionId, ...(value && { value: value(place) }) });
      users.push({ set: inUsers, member: userId });
    }
    return connections.concat(users);
  }

  function noteStored(places: readonly Place[], seen: readonly Shown[]): void {
    for (const [at, { stored }] of places.entries()) stored.seen = seen[at] ?? null;
  }

  /** All of them in one command; says of each whether its user was not there before. */
  async function touchAll(places: readonly Place[]): Promise<boolean[]> {
    const seen = places.map(shownOf);
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

  return { refresh, touchAll };
}
