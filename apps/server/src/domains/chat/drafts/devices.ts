import type { MessageDraft } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Log } from '../../../core/log.ts';
import type { Bus, Unsubscribe } from '../../../core/ports.ts';
import { isListed } from '../callers.ts';
import type { ChatConnection } from '../live/subscriptions.ts';

interface News {
  draft: MessageDraft | null;
}
interface Told extends News {
  userId: string;
  conversationId: string;
}

/** A user with sockets in this process. As small as can be: most are idle. */
interface Owner {
  readonly connections: ChatConnection[];
  /** Null until the bus has answered. */
  stop: Unsubscribe | null;
}

export type Devices = ReturnType<typeof createDevices>;

const topicOf = ({ projectId, environment }: ProjectScope, userId: string): string =>
  `drafts/${projectId}/${environment}/${userId}`;

/**
 * The open sockets of each user, wherever they are: what is a user's own reaches all of their devices. Each user has a
 * topic, which a process hears while a device of theirs is connected to it (ADR 0249).
 */
export function createDevices({ bus, log }: { bus: Bus; log: Log }) {
  /** By topic. */
  const owners = new Map<string, Owner>();

  const ownTopic = ({ session }: ChatConnection): string => topicOf(session, session.caller.userId);

  function enter(topic: string): Owner {
    const owner: Owner = { connections: [], stop: null };
    owners.set(topic, owner);
    void listen(owner, topic);
    return owner;
  }

  async function listen(owner: Owner, topic: string): Promise<void> {
    try {
      // Only our own processes publish here.
      owner.stop = await bus.subscribe(topic, (message) => receive(owner.connections, message as Told));
      if (owner.connections.length === 0) owner.stop();
    } catch (error) {
      log.warn({ error }, 'drafts of other processes are not heard');
    }
  }

  function receive(connections: readonly ChatConnection[], { userId, conversationId, draft }: Told): void {
    // One that is too slow is closed meanwhile.
    for (const connection of [...connections]) {
      const { caller } = connection.session;
      if (!isListed(caller, conversationId) || !caller.scopes.includes('chat:read')) continue;
      connection.send('draft.updated', { conversationId, userId, draft });
    }
  }

  return {
    opened(connection: ChatConnection): void {
      const topic = ownTopic(connection);
      (owners.get(topic) ?? enter(topic)).connections.push(connection);
    },
    closed(connection: ChatConnection): void {
      const topic = ownTopic(connection);
      const owner = owners.get(topic);
      const at = owner?.connections.indexOf(connection) ?? -1;
      if (!owner || at < 0) return;
      owner.connections.splice(at, 1);
      if (owner.connections.length > 0) return;
      owners.delete(topic);
      owner.stop?.();
    },
    /** Those of this process. */
    each(scope: ProjectScope, userId: string, tell: (connection: ChatConnection) => void): void {
      for (const connection of [...(owners.get(topicOf(scope, userId))?.connections ?? [])]) tell(connection);
    },
    tell(scope: ProjectScope, userId: string, conversationId: string, news: News): void {
      bus.publish(topicOf(scope, userId), { userId, conversationId, ...news } satisfies Told);
    },
    stop(): void {
      for (const { stop } of owners.values()) stop?.();
    },
  };
}
