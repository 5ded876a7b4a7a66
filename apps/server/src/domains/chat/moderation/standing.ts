import { fail, type Sanction } from '@parley/contract';
import { createCache } from '../../../core/cache.ts';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { OpenConnections } from '../../../core/grant.ts';
import type { Bus } from '../../../core/ports.ts';
import type { ChatCaller, Moderator } from '../callers.ts';
import type { Environments } from './environments.ts';
import { everywhere, findSanctions, listBannedSince } from './sanction-store.ts';

interface StandingDeps {
  db: Db;
  clock: Clock;
  bus: Bus;
  openConnections: Pick<OpenConnections, 'count'>;
  environments: Environments;
}

/** A user whose standing in an environment has changed. */
type Changed = ProjectScope & { userId: string };
/** Null: rules of the environment have. */
type Change = ProjectScope & { userId: string | null };

/**
 * Who is banned or muted in all chat of an environment: asked with every token and every message, so kept in memory, but
 * never for longer than a second.
 */
export type ChatStanding = ReturnType<typeof createChatStanding>;

const topic = 'chat-standing';
const options = { ttlMs: 1_000, sizeMax: 10_000 };
/** Far enough back that no two looks leave a gap, and no connection opened by an old answer is missed. */
const lookBackMs = 30_000;

const scopeKey = ({ projectId, environment }: ProjectScope): string => `${projectId}/${environment}`;
const userKey = ({ userId, ...scope }: Changed): string => `${scopeKey(scope)}/${userId}`;

export function createChatStanding({ db, clock, bus, openConnections, environments }: StandingDeps) {
  const users = createCache<Sanction[]>({ clock, ...options });
  const inConversations = createCache<Sanction[]>({ clock, ...options });
  let close: (banned: readonly Changed[]) => void = () => {};

  /** Most environments have shut out nobody: they are asked for once a second, and not for each of their users. */
  async function sanctionsOf(caller: Changed): Promise<Sanction[]> {
    if (!(await environments.get(caller)).hasSanctions) return [];
    const { userId } = caller;
    const known = await users.get(userKey(caller), () =>
      findSanctions(db, caller, [everywhere], userId, iso(clock.now())),
    );
    return known.filter(({ until }) => until === null || Date.parse(until) > clock.now());
  }

  function heard(change: Change): void {
    environments.forget(change);
    const { userId } = change;
    if (userId === null) return;
    const user = { ...change, userId };
    users.drop(userKey(user));
    users
      .get(userKey(user), () => findSanctions(db, user, [everywhere], userId, iso(clock.now())))
      .then((sanctions) => sanctions.some(({ kind }) => kind === 'BAN') && close([user]))
      // The look at the store finds them.
      .catch(() => undefined);
  }

  return {
    /** Fails for a user who is banned from all chat. */
    async assertNotBanned(caller: Changed): Promise<void> {
      const ban = (await sanctionsOf(caller)).find(({ kind }) => kind === 'BAN');
      if (ban) failFor(ban);
    },

    /** Fails for one who may not send anywhere; an API key always may. */
    async assertMaySpeak(caller: Moderator): Promise<void> {
      if (caller.kind !== 'chatToken') return;
      const first = (await sanctionsOf(caller)).find(({ kind }) => kind !== 'SHADOW');
      if (first) failFor(first);
    },

    /** Whether what a user sends, wherever that is, is for themselves alone. */
    isShadowed: async (caller: ChatCaller): Promise<boolean> =>
      caller.kind === 'chatToken' && (await sanctionsOf(caller)).some(({ kind }) => kind === 'SHADOW'),

    /** The same in one conversation, as it was within the last second: for what is not stored. */
    async isShadowedIn(caller: Changed, conversationId: string): Promise<boolean> {
      if (!(await environments.get(caller)).hasShadows) return false;
      const { userId } = caller;
      const places = [everywhere, conversationId];
      const known = await inConversations.get(`${userKey(caller)} ${conversationId}`, () =>
        findSanctions(db, caller, places, userId, iso(clock.now())),
      );
      return known.some(({ kind, until }) => kind === 'SHADOW' && (until === null || Date.parse(until) > clock.now()));
    },

    /** After the commit, on every process. */
    announce: ({ projectId, environment }: ProjectScope, userId: string | null = null): void =>
      bus.publish(topic, { projectId, environment, userId } satisfies Change),

    /** Who closes the sockets of this process. */
    onBanned(listener: typeof close): void {
      close = listener;
    },

    /** How it arrives when the bus does not carry it. */
    async cutOffBanned(): Promise<void> {
      if (openConnections.count === 0) return;
      const now = clock.now();
      const banned = await listBannedSince(db, iso(now - lookBackMs), iso(now));
      if (banned.length > 0) close(banned);
    },

    start: (): Promise<unknown> => bus.subscribe(topic, (change) => heard(change as Change)),
  };
}

/** As the user is told. */
export function failFor({ kind, until, reason, conversationId }: Sanction): never {
  return fail(kind === 'BAN' ? 'SVC_CHAT_BANNED' : 'SVC_CHAT_MUTED', { until, reason, conversationId });
}
