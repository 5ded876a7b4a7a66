import type { Place } from './presence-sets.ts';
import type { Client, Subscription } from './subscriptions.ts';

/** In slices: other commands to the shared store must not queue behind a refresh of everybody. */
export const presenceTurns = 60;

export const placeOf = (client: Client, { channel, userId, since, stored }: Subscription): Place => ({
  conversationId: channel.conversationId,
  userId,
  connectionId: client.connection.id,
  status: client.status,
  since,
  lastSeenAt: client.connection.lastSeenAt,
  stored,
});

/** Who of this process is present in one conversation, by connection. */
type Present = Map<string, readonly [Client, Subscription]>;

/**
 * Keeps those of this process present. A conversation has its turn, with all of its people, and all conversations of a
 * turn are one command; one without people here costs nothing.
 */
export function createPresenceRefresh(
  refreshAll: (places: readonly Place[], isHere: (place: Place) => boolean) => Promise<unknown>,
) {
  const slices = Array.from({ length: presenceTurns }, () => new Map<string, Present>());
  const sliceOf = new Map<string, Map<string, Present>>();
  let [begun, turn] = [0, 0];

  function begin(conversationId: string): Present {
    const slice = slices[begun++ % presenceTurns] ?? new Map<string, Present>();
    const present: Present = new Map();
    sliceOf.set(conversationId, slice);
    slice.set(conversationId, present);
    return present;
  }

  /** Still: they may have left while a refresh was under way. */
  const isHere = ({ conversationId, connectionId }: Place): boolean =>
    sliceOf.get(conversationId)?.get(conversationId)?.has(connectionId) === true;

  return {
    entered(client: Client, subscription: Subscription): void {
      const { conversationId } = subscription.channel;
      const present = sliceOf.get(conversationId)?.get(conversationId) ?? begin(conversationId);
      present.set(client.connection.id, [client, subscription]);
    },
    left(client: Client, { channel: { conversationId } }: Subscription): void {
      const slice = sliceOf.get(conversationId);
      const present = slice?.get(conversationId);
      present?.delete(client.connection.id);
      if (present?.size !== 0) return;
      slice?.delete(conversationId);
      sliceOf.delete(conversationId);
    },
    /** The next slice; all are done after `presenceTurns` calls. */
    async refresh(): Promise<void> {
      turn = (turn + 1) % presenceTurns;
      const places: Place[] = [];
      for (const present of slices[turn]?.values() ?? []) {
        for (const [client, subscription] of present.values()) places.push(placeOf(client, subscription));
      }
      if (places.length > 0) await refreshAll(places, isHere);
    },
  };
}
