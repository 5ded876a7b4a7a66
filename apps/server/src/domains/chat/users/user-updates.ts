import type { ChatUser } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { Log } from '../../../core/log.ts';
import type { Bus, Unsubscribe } from '../../../core/ports.ts';
import { frameText } from '../../../core/socket.ts';
import type { Client } from '../live/subscriptions.ts';
import { findMemberships } from './user-store.ts';

interface News {
  userId: string;
  frame: string;
}

/** A project's environment with clients in this process. */
interface Place {
  clients: Set<Client>;
  subscribing: Promise<Unsubscribe | null>;
  /** The latest frame of each user. */
  waiting: Map<string, string>;
  isDelivering: boolean;
}

/** More than these are not kept while earlier ones are delivered: clients read users again when they connect. */
const waitingMax = 1_000;

const keyOf = ({ projectId, environment }: ProjectScope): string => `chat-users/${projectId}/${environment}`;

/**
 * Brings changes of users to clients that are subscribed to a conversation with them (ADR 0183). A change costs one
 * message and, in each process that has clients of the project, one look at the memberships in the conversations they
 * are subscribed to: not more for a user who is in very many.
 */
export function createUserUpdates({ db, bus, clock, log }: { db: Db; bus: Bus; clock: Clock; log: Log }) {
  const places = new Map<string, Place>();

  function enter(key: string): Place {
    const place: Place = {
      clients: new Set(),
      // Only our own processes publish here.
      subscribing: bus
        .subscribe(key, (message) => receive(place, message as News))
        .catch((error) => {
          log.warn({ error }, 'changes of chat users are not heard');
          return null;
        }),
      waiting: new Map(),
      isDelivering: false,
    };
    places.set(key, place);
    return place;
  }

  function receive(place: Place, { userId, frame }: News): void {
    if (place.waiting.size >= waitingMax && !place.waiting.has(userId)) return;
    place.waiting.set(userId, frame);
    if (place.isDelivering) return;
    place.isDelivering = true;
    void deliver(place)
      .catch((error) => log.warn({ error }, 'changes of chat users were not delivered'))
      .finally(() => {
        place.isDelivering = false;
      });
  }

  async function deliver(place: Place): Promise<void> {
    while (place.waiting.size > 0) {
      const frames = place.waiting;
      place.waiting = new Map();
      const open = new Set([...place.clients].flatMap((client) => uuidsOf(client)));
      if (open.size === 0) continue;
      const usersIn = new Map<string, string[]>();
      for (const { userId, uuid } of await findMemberships(db, [...frames.keys()], [...open])) {
        usersIn.set(uuid, [...(usersIn.get(uuid) ?? []), userId]);
      }
      for (const client of place.clients) {
        const known = new Set(uuidsOf(client).flatMap((uuid) => usersIn.get(uuid) ?? []));
        for (const userId of known) client.connection.write(frameText(frames.get(userId) ?? ''));
      }
    }
  }

  return {
    opened(client: Client): void {
      const key = keyOf(client.connection.session);
      (places.get(key) ?? enter(key)).clients.add(client);
    },
    closed(client: Client): void {
      const key = keyOf(client.connection.session);
      const place = places.get(key);
      if (!place?.clients.delete(client) || place.clients.size > 0) return;
      places.delete(key);
      void place.subscribing.then((unsubscribe) => unsubscribe?.());
    },
    publish(scope: ProjectScope, user: ChatUser): void {
      const frame = JSON.stringify({ type: 'user.updated', user, ts: clock.now() });
      bus.publish(keyOf(scope), { userId: user.userId, frame } satisfies News);
    },
  };
}

export type UserUpdates = ReturnType<typeof createUserUpdates>;

const uuidsOf = ({ subscriptions }: Client): string[] => [...subscriptions.values()].map(({ channel }) => channel.uuid);
