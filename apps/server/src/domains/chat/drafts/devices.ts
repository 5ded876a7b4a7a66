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
  key: string;
  userId: string;
  conversationId: string;
}

export type Devices = ReturnType<typeof createDevices>;

const topic = 'drafts';
const keyOf = ({ projectId, environment }: ProjectScope, userId: string): string =>
  `${projectId}/${environment}/${userId}`;

/** The open sockets of each user, wherever they are: what is a user's own reaches all of their devices. */
export function createDevices({ bus, log }: { bus: Bus; log: Log }) {
  const connections = new Map<string, Set<ChatConnection>>();
  let stopListening: Unsubscribe = () => {};

  const ownKey = ({ session }: ChatConnection): string => keyOf(session, session.caller.userId);

  function receive({ key, userId, conversationId, draft }: Told): void {
    for (const connection of connections.get(key) ?? []) {
      const { caller } = connection.session;
      if (!isListed(caller, conversationId) || !caller.scopes.includes('chat:read')) continue;
      connection.send('draft.updated', { conversationId, userId, draft });
    }
  }

  return {
    opened(connection: ChatConnection): void {
      const key = ownKey(connection);
      const own = connections.get(key) ?? new Set();
      connections.set(key, own.add(connection));
    },
    closed(connection: ChatConnection): void {
      const key = ownKey(connection);
      const own = connections.get(key);
      own?.delete(connection);
      if (own?.size === 0) connections.delete(key);
    },
    /** Those of this process. */
    each(scope: ProjectScope, userId: string, tell: (connection: ChatConnection) => void): void {
      for (const connection of connections.get(keyOf(scope, userId)) ?? []) tell(connection);
    },
    tell(scope: ProjectScope, userId: string, conversationId: string, news: News): void {
      bus.publish(topic, { key: keyOf(scope, userId), userId, conversationId, ...news } satisfies Told);
    },
    async start(): Promise<void> {
      // Only our own processes publish here.
      stopListening = await bus
        .subscribe(topic, (message) => receive(message as Told))
        .catch((error) => {
          log.warn({ error }, 'drafts of other processes are not heard');
          return () => {};
        });
    },
    stop: (): void => stopListening(),
  };
}
