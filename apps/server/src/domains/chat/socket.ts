import {
  type ChatClientFrames,
  type ChatServerFrames,
  chatClientFrames,
  fail,
  type Limits,
  type Message,
} from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { metadataJson } from '../../core/safe-json.ts';
import { type AnySocket, type FrameHandlers, ReplyJson, socket } from '../../core/socket.ts';
import { assertScope } from './callers.ts';
import type { Entries } from './conversations/entries.ts';
import type { Reads } from './conversations/reads.ts';
import type { Delivered } from './delivered/delivered.ts';
import type { Devices } from './drafts/devices.ts';
import type { InboxFeed } from './inbox/feed.ts';
import type { LiveInboxes } from './inbox/live-inboxes.ts';
import { fitting, fittingPage } from './live/change.ts';
import type { ConnectionLog } from './live/connections.ts';
import type { PresenceOf } from './live/presence.ts';
import { placeOf } from './live/presence-refresh.ts';
import type { ChatConnection, ChatSession, Client, Subscriptions } from './live/subscriptions.ts';
import type { TypingOf } from './live/typing.ts';
import type { Messages } from './messages/edit.ts';
import type { History } from './messages/history.ts';
import type { Reactions } from './messages/reactions.ts';
import type { Sends } from './messages/send.ts';
import type { ChatStanding } from './moderation/standing.ts';
import type { Polls } from './polls/polls.ts';
import { looksLikeId } from './references.ts';
import type { ChatTokens } from './tokens.ts';
import type { UserUpdates } from './users/user-updates.ts';

interface ChatSocketDeps {
  devices: Pick<Devices, 'opened' | 'closed'>;
  clock: Clock;
  log: Log;
  limits: Limits;
  tokens: ChatTokens;
  entries: Entries;
  sends: Sends;
  messages: Messages;
  reactions: Reactions;
  polls: Polls;
  reads: Reads;
  history: History;
  presence: PresenceOf;
  typing: TypingOf;
  subscriptions: Subscriptions;
  connections: ConnectionLog;
  inboxFeed: InboxFeed;
  liveInboxes: LiveInboxes;
  delivered: Delivered;
  chatStanding: Pick<ChatStanding, 'onBanned' | 'isShadowedIn'>;
  userUpdates: Pick<UserUpdates, 'opened' | 'closed'>;
}

const presenceDataMax = 1024;
/** What an answer needs beside the page it carries, and a page beside its one record. */
const frameSlack = 512;

/** Presence and typing may fail with the shared store; chat goes on without them. */
export const logFailure = (log: Log, work: Promise<unknown>): void =>
  void work.catch((error) => log.debug({ error }, 'presence not announced'));

export function createChatSocket(deps: ChatSocketDeps): AnySocket {
  const { clock, limits, tokens, subscriptions, connections, liveInboxes, userUpdates, devices } = deps;
  const clients = new Map<string, Client>();
  const heartbeatTimeoutMs = limits.CHAT_PRESENCE_TTL_SECONDS * 1000;

  async function authenticate(token: string): Promise<ChatSession> {
    const caller = await tokens.authenticate(token);
    const { projectId, environment, userId, tokenId, keyId, issuedAt, expiresAt } = caller;
    return { projectId, environment, userId, tokenId, keyId, issuedAt, subject: userId, expiresAt, caller };
  }

  deps.chatStanding.onBanned((banned) => {
    const keyOf = (user: { projectId: string; environment: string; userId: string }): string =>
      `${user.projectId} ${user.environment} ${user.userId}`;
    const over = new Set(banned.map(keyOf));
    for (const { connection } of clients.values())
      if (over.has(keyOf(connection.session))) connection.close(4410, 'CHAT_BANNED');
  });

  const clientOf = ({ id }: ChatConnection): Client => clients.get(id) ?? fail('SVC_UNAUTHENTICATED');

  const factsOf = ({ connection, subscriptions, messagesSent }: Client) => ({
    id: connection.id,
    projectId: connection.session.projectId,
    environment: connection.session.environment,
    userId: connection.session.caller.userId,
    userAgent: connection.userAgent,
    ip: connection.ip,
    connectedAt: connection.connectedAt,
    subscriptions: subscriptions.size,
    messagesSent,
  });

  function hello(connection: ChatConnection): void {
    const { caller } = connection.session;
    connection.send('hello', {
      connectionId: connection.id,
      userId: caller.userId,
      projectId: caller.projectId,
      environment: caller.environment,
      scopes: [...caller.scopes],
      serverTime: clock.now(),
      heartbeatIntervalMs: Math.floor(heartbeatTimeoutMs / 3),
      heartbeatTimeoutMs,
      presenceTtlSeconds: limits.CHAT_PRESENCE_TTL_SECONDS,
      typingTtlSeconds: limits.CHAT_TYPING_TTL_SECONDS,
      maxFrameBytes: limits.CHAT_MAX_FRAME_BYTES,
      maxSubscriptions: limits.CHAT_MAX_ROOM_SUBSCRIPTIONS,
      tokenExpiresAt: iso(caller.expiresAt),
      protocol: 1,
    });
  }

  /** The same person with a fresh token; what it no longer allows ends. */
  async function refresh(connection: ChatConnection, token: string): Promise<{ expiresAt: string }> {
    const session = await authenticate(token);
    const [old, fresh] = [connection.session.caller, session.caller];
    const isSame =
      old.userId === fresh.userId && old.projectId === fresh.projectId && old.environment === fresh.environment;
    if (!isSame) fail('SVC_FORBIDDEN', { message: 'The token is of another user, project or environment.' });
    connection.renew(session);
    subscriptions.narrow(clientOf(connection));
    liveInboxes.narrow(connection);
    return { expiresAt: iso(fresh.expiresAt) };
  }

  const definition = {
    path: '/v1/chat/ws',
    subprotocol: 'svc.chat.v1',
    frames: chatClientFrames,
    authFrame: 'auth' as const,
    replyType: 'ack' as const,
    frameBytesMax: limits.CHAT_MAX_FRAME_BYTES,
    heartbeatTimeoutMs,
    connectBudget: 'CHAT_CONNECT_RATE_LIMIT' as const,
    authenticate,
    opened(connection: ChatConnection) {
      const client: Client = { connection, subscriptions: new Map(), status: 'ONLINE', messagesSent: 0 };
      clients.set(connection.id, client);
      userUpdates.opened(client);
      connections.noteUse(connection.id, () => factsOf(client));
      hello(connection);
      devices.opened(connection);
    },
    expiring: (connection: ChatConnection) =>
      connection.send('token.expiring', { expiresAt: iso(connection.session.expiresAt) }),
    draining: (connection: ChatConnection, afterMs: number) =>
      connection.send('reconnect', { reason: 'DRAINING', afterMs }),
    closed(connection: ChatConnection, code: number) {
      const client = clients.get(connection.id);
      if (!client) return;
      clients.delete(connection.id);
      userUpdates.closed(client);
      connections.note(factsOf(client), code);
      subscriptions.end(client);
      liveInboxes.end(connection);
      devices.closed(connection);
    },
    handlers: createFrameHandlers(deps, {
      clientOf,
      refresh,
      noteUse(client) {
        // Its end may have been written meanwhile, and must stay.
        if (clients.has(client.connection.id)) connections.noteUse(client.connection.id, () => factsOf(client));
      },
    }),
  };

  return socket<ChatSession, ChatClientFrames, ChatServerFrames>(definition);
}

interface SocketParts {
  clientOf: (connection: ChatConnection) => Client;
  refresh: (connection: ChatConnection, token: string) => Promise<{ expiresAt: string }>;
  noteUse: (client: Client) => void;
}

/** One line a frame where it can be: the same services, the same rules as over REST. */
function createFrameHandlers(
  deps: ChatSocketDeps,
  { clientOf, refresh, noteUse }: SocketParts,
): FrameHandlers<ChatSession, ChatClientFrames, ChatServerFrames> {
  const { clock, limits, entries, sends, messages, reactions, reads, history, presence, typing, subscriptions } = deps;
  const { inboxFeed, liveInboxes, delivered } = deps;
  const pageMax = limits.CHAT_MAX_HISTORY_PAGE_SIZE;
  const callerOf = ({ session }: ChatConnection) => session.caller;

  const answerMax = limits.CHAT_MAX_FRAME_BYTES - frameSlack;

  /** A page that does not fit a frame is read again, half as long; its cursor says where to go on. */
  async function fitted(limit: number, read: (limit: number) => Promise<string>): Promise<ReplyJson> {
    const text = await read(limit);
    if (Buffer.byteLength(text) <= answerMax) return new ReplyJson(text);
    return limit === 1 ? new ReplyJson(fittingPage(text, answerMax - frameSlack)) : fitted(Math.ceil(limit / 2), read);
  }

  const messageReply = (message: Message): { message: Message } => ({
    message: fitting(message, answerMax - frameSlack),
  });

  /** From memory where the conversation is subscribed to. */
  async function assertMayType(connection: ChatConnection, reference: string) {
    assertScope(callerOf(connection), 'chat:typing');
    const own = [...clientOf(connection).subscriptions.values()];
    const known = own.find(({ ref, channel }) => {
      const { conversationId, uuid, name } = channel;
      // Of what the client called it only an id still says the same: a name may have moved.
      return [conversationId, uuid, name].includes(reference) || (ref === reference && looksLikeId(ref));
    });
    if (known) {
      if (known.channel.status === 'ARCHIVED') fail('SVC_CONVERSATION_ARCHIVED');
      return { conversationId: known.channel.conversationId, subscription: known };
    }
    const needs = { scope: 'chat:typing', action: 'read', isWrite: true } as const;
    const { publicId } = await entries.enter(callerOf(connection), reference, needs);
    return { conversationId: publicId, subscription: null };
  }

  return {
    auth: (connection, { token }) => refresh(connection, token),
    'token.refresh': (connection, { token }) => refresh(connection, token),

    async subscribe(connection, { conversations }) {
      const client = clientOf(connection);
      const reply = await subscriptions.subscribe(client, conversations);
      noteUse(client);
      return reply;
    },
    async unsubscribe(connection, { conversations }) {
      const client = clientOf(connection);
      await subscriptions.unsubscribe(client, conversations);
      noteUse(client);
      return undefined;
    },

    async 'message.send'(connection, { conversation, msgType, ...draft }) {
      const { text, isRepeat } = await sends.send(callerOf(connection), conversation, { ...draft, type: msgType });
      const client = clientOf(connection);
      client.messagesSent++;
      noteUse(client);
      // Only what was sent before can have reactions.
      return isRepeat ? messageReply(JSON.parse(text)) : new ReplyJson(`{"message":${text}}`);
    },
    'message.edit': async (connection, { messageId, ...change }) =>
      messageReply(await messages.edit(callerOf(connection), messageId, change)),
    async 'message.delete'(connection, { messageId }) {
      const { deletedAt } = await messages.remove(callerOf(connection), messageId);
      return { messageId, deletedAt };
    },

    async 'reaction.add'(connection, { messageId, emoji }) {
      const { body } = await reactions.add(callerOf(connection), messageId, { emoji });
      return fitting({ reactions: body }, answerMax);
    },
    async 'reaction.remove'(connection, { messageId, emoji }) {
      return fitting({ reactions: await reactions.remove(callerOf(connection), messageId, { emoji }) }, answerMax);
    },
    'poll.vote': async (connection, { messageId, optionIds }) => ({
      poll: await deps.polls.vote(callerOf(connection), messageId, { optionIds }),
    }),
    read: (connection, { messageId }) => reads.mark(callerOf(connection), messageId),

    async typing(connection, { conversation, typing: isTyping }) {
      const { conversationId, subscription } = await assertMayType(connection, conversation);
      const { userId } = callerOf(connection);
      const now = clock.now();
      if (!isTyping) {
        if (subscription) subscription.typing = null;
        const note = { conversationId, userId, typing: false, expiresAt: null };
        if (await typing.stop(conversationId, userId, connection.id))
          inboxFeed.typing(callerOf(connection), note, connection.id);
        return undefined;
      }
      if (await deps.chatStanding.isShadowedIn(callerOf(connection), conversationId)) return undefined;
      const ongoing = subscription?.typing;
      const startedAt = ongoing && ongoing.until > now ? ongoing.startedAt : now;
      if (subscription) subscription.typing = { startedAt, until: now + limits.CHAT_TYPING_TTL_SECONDS * 1000 };
      await typing.start(conversationId, userId, startedAt, connection.id);
      const expiresAt = iso(now + limits.CHAT_TYPING_TTL_SECONDS * 1000);
      inboxFeed.typing(callerOf(connection), { conversationId, userId, typing: true, expiresAt }, connection.id);
      return undefined;
    },
    async presence(connection, { status, data }) {
      assertScope(callerOf(connection), 'chat:presence');
      if (data) metadataJson(data, presenceDataMax);
      const client = clientOf(connection);
      client.status = status;
      const present = [...client.subscriptions.values()].filter(({ isPresent }) => isPresent);
      await Promise.all(
        present.map(async (subscription) => {
          const place = placeOf(client, subscription);
          // That they are there is no word of theirs; what they say with it is.
          const isMute = data && (await deps.chatStanding.isShadowedIn(callerOf(connection), place.conversationId));
          return presence.update(place, isMute ? undefined : data);
        }),
      );
      return undefined;
    },

    'inbox.subscribe': (connection, wanted) => liveInboxes.subscribe(connection, wanted),
    async delivered(connection, { conversations }) {
      await delivered.acknowledge(callerOf(connection), conversations);
      return undefined;
    },
    async 'inbox.unsubscribe'(connection) {
      liveInboxes.end(connection);
      return undefined;
    },

    history: (connection, { conversation, ...query }) =>
      fitted(query.limit ?? Math.min(50, pageMax), (limit) =>
        history.page(callerOf(connection), conversation, { ...query, limit }),
      ),
    changes: (connection, { conversation, since, limit: asked }) =>
      fitted(asked ?? pageMax, (limit) => history.changes(callerOf(connection), conversation, { since, limit })),
  };
}
