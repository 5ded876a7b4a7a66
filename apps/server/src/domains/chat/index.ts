import type { Limits } from '@parley/contract';
import type { Activity } from '../../core/activity.ts';
import type { Changes } from '../../core/changes.ts';
import type { Clock } from '../../core/clock.ts';
import type { Cursors } from '../../core/cursors.ts';
import type { Db } from '../../core/db.ts';
import type { DispatchedOnInsert, EventRef } from '../../core/event-store.ts';
import type { OpenConnections } from '../../core/grant.ts';
import type { Ids } from '../../core/ids.ts';
import type { Keyring } from '../../core/keyring.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics } from '../../core/metrics.ts';
import type { MissedChanges } from '../../core/missed-changes.ts';
import type { Blobs, Bus, ExpiringSets } from '../../core/ports.ts';
import type { Quotas } from '../../core/quotas.ts';
import type { RateLimiter } from '../../core/rate-limiter.ts';
import type { ReplicatedReads } from '../../core/replicated-reads.ts';
import type { Chore } from '../../core/timers.ts';
import type { Tokens } from '../../core/tokens.ts';
import type { UnitOfWork } from '../../core/unit-of-work.ts';
import type { UsageCounts } from '../../core/usage-counts.ts';
import type { RevokedTokens } from '../end-users/index.ts';
import type { OfflineTokens } from '../projects/index.ts';
import { blockHandlers, createBlocks } from './blocks/blocks.ts';
import { createContent } from './content.ts';
import { createConversations } from './conversations/conversations.ts';
import { createEntries } from './conversations/entries.ts';
import { createMembers } from './conversations/members.ts';
import type { RoomsOfChat } from './conversations/provision.ts';
import { createReads } from './conversations/reads.ts';
import { createDashboard } from './dashboard/dashboard.ts';
import { createDelivered } from './delivered/delivered.ts';
import { createDirect, directHandlers } from './direct/direct.ts';
import { createDevices } from './drafts/devices.ts';
import { createFiles } from './files.ts';
import { createForwards } from './forwards/forwards.ts';
import { createHandlers } from './handlers.ts';
import { createImporter } from './import/importer.ts';
import { createDormancy } from './inbox/dormancy.ts';
import { createInboxFeed } from './inbox/feed.ts';
import { createInbox, inboxHandlers } from './inbox/inbox.ts';
import { createInterest } from './inbox/interest.ts';
import { createLiveInboxes } from './inbox/live-inboxes.ts';
import { createLinks, type FetchesPages } from './links/links.ts';
import { aliveEveryMs, createConnectionLog, strandedEveryMs } from './live/connections.ts';
import { createHub } from './live/hub.ts';
import { createPresence } from './live/presence.ts';
import { createPresenceRefresh, placeOf, presenceTurns } from './live/presence-refresh.ts';
import { type Client, createSubscriptions } from './live/subscriptions.ts';
import { createTyping } from './live/typing.ts';
import { createMentions } from './mentions/mentions.ts';
import { createMessages } from './messages/edit.ts';
import { createHistory } from './messages/history.ts';
import { createReactions } from './messages/reactions.ts';
import { createRefresh } from './messages/refresh.ts';
import { createSends } from './messages/send.ts';
import { createThreads } from './messages/threads.ts';
import type { AsksBackends } from './moderation/hook.ts';
import { createGate, createModeration } from './moderation/moderation.ts';
import { createPersonalData } from './personal/personal.ts';
import { createPolls } from './polls/polls.ts';
import { createShadow } from './shadow/shadow.ts';
import { withShadow } from './shadow/with-shadow.ts';
import { createChatSocket, logFailure } from './socket.ts';
import { createTargets } from './targets.ts';
import { createChatTokens, type StandingOfUsers } from './tokens.ts';
import { renewEpochs } from './upkeep/epoch-store.ts';
import { createRetention } from './upkeep/retention.ts';
import { createUserUpdates } from './users/user-updates.ts';
import { createChatUsers, userHandlers } from './users/users.ts';

export { assertScope, type ChatCaller, subjectOf, userOf } from './callers.ts';
export type { ConversationDraft, RoomsOfChat } from './conversations/provision.ts';

interface ChatDeps {
  db: Db;
  replicated: ReplicatedReads;
  bus: Bus;
  /** The sockets of this process. */
  openConnections: Pick<OpenConnections, 'count'>;
  missedChanges: MissedChanges;
  expiringSets: ExpiringSets;
  blobs: Blobs;
  clock: Clock;
  ids: Ids;
  log: Log;
  changes: Changes;
  activity: Activity;
  usageCounts: UsageCounts;
  metrics: Metrics;
  cursors: Cursors;
  keyring: Keyring;
  tokens: Tokens;
  rateLimiter: RateLimiter;
  quotas: Quotas;
  limits: Limits;
  publicUrl: string;
  unitOfWork: UnitOfWork;
  dispatchedOnInsert: DispatchedOnInsert;
  /** Takes events that were stored outside a unit of work, right after their commit. */
  dispatch: (events: readonly EventRef[]) => void;
  /** Signed questions to customers' backends. */
  callouts: AsksBackends;
  /** Pages that users link to. */
  pages: FetchesPages;
  rooms: RoomsOfChat;
  standing: StandingOfUsers;
  revokedTokens: Pick<RevokedTokens, 'revoke'>;
  offlineTokens: OfflineTokens;
}

export function createChat(given: ChatDeps) {
  const deps = { ...given, ...createGate(given) };
  const { log, changes, chatStanding } = deps;
  /** After it: who is told reads what is true now. */
  const noteAfter = ({ connection }: Client, work: Promise<unknown>): void =>
    logFailure(
      log,
      work.then(() => changes.note('chat', connection.session)),
    );
  const entries = createEntries(deps);
  const targets = createTargets(deps);
  const interest = createInterest(deps);
  const inboxFeed = createInboxFeed({ ...deps, interest });
  const hub = createHub({ ...deps, noteInbox: inboxFeed.note });
  const tokens = createChatTokens(deps);
  const conversations = createConversations({ ...deps, entries, hub });
  const members = createMembers({ ...deps, entries, hub });
  const userUpdates = createUserUpdates(deps);
  const users = createChatUsers({ ...deps, news: userUpdates });
  const direct = createDirect({ ...deps, conversations, members });
  const presence = createPresence({ ...deps, hub });
  const mentions = createMentions({ presence });
  const refresh = createRefresh({ ...deps, hub });
  const links = createLinks({ ...deps, refresh });
  const shadow = createShadow({ ...deps, entries, mentions });
  const messages = withShadow(createMessages({ ...deps, entries, hub, mentions, links }), shadow);
  const forwards = createForwards({ ...deps, messages });
  const sends = createSends({ ...deps, targets, hub, mentions, links, forwards });
  const threads = createThreads({ ...deps, messages, shadow });
  const history = createHistory({ ...deps, targets });
  const reactions = createReactions({ ...deps, messages, shadow, hub });
  const polls = createPolls({ ...deps, entries, messages, shadow, hub });
  const reads = createReads({ ...deps, entries, hub, messages, shadow });
  const dormancy = createDormancy(deps);
  const inbox = createInbox({ ...deps, entries, messages, dormancy, hub });
  const delivered = createDelivered({ ...deps, entries, targets, hub });
  const liveInboxes = createLiveInboxes({ ...deps, interest });
  const presenceRefresh = createPresenceRefresh(presence.refresh);
  const typing = createTyping({ ...deps, hub });
  const files = createFiles({ ...deps, entries, refresh, links });
  const { attachments } = files;
  const connections = createConnectionLog(deps);
  const retention = createRetention({ ...deps, hub });
  const devices = createDevices(deps);
  const blocks = createBlocks({ ...deps, hub, presence, devices });
  const content = createContent({ ...deps, entries, forwards, sends, messages, hub, devices, polls });
  const moderation = createModeration({ ...deps, entries, members, messages, shadow, hub });
  const dashboard = createDashboard({ ...deps, conversations, members, presence, connections });
  const subscriptions = createSubscriptions({
    ...deps,
    hub,
    targets,
    onEnter(client, subscription) {
      presenceRefresh.entered(client, subscription);
      noteAfter(client, presence.enter(placeOf(client, subscription)));
    },
    onLeave(client, subscription) {
      presenceRefresh.left(client, subscription);
      noteAfter(client, presence.leave(placeOf(client, subscription)));
    },
  });
  const parts = {
    entries,
    conversations,
    members,
    sends,
    messages,
    history,
    reactions,
    polls,
    reads,
    presence,
    typing,
  };
  const chatSocket = createChatSocket({
    ...deps,
    ...parts,
    tokens,
    subscriptions,
    connections,
    inboxFeed,
    liveInboxes,
    delivered,
    userUpdates,
    devices,
  });

  // Two refreshes may be late before a user counts as gone.
  const refreshMs = (deps.limits.CHAT_PRESENCE_TTL_SECONDS * 1000) / 3;
  const everyProcess = { onEveryProcess: true } as const;
  const withoutShared = { onDatabaseAlone: true } as const;
  const chores: Chore[] = [
    { name: 'chat-connections', everyMs: 1_000, run: () => connections.flush(), ...everyProcess },
    { name: 'chat-alive', everyMs: aliveEveryMs, run: () => connections.markAlive(), ...everyProcess },
    {
      name: 'chat-presence-refresh',
      everyMs: refreshMs / presenceTurns,
      run: async () => logFailure(log, presenceRefresh.refresh()),
      ...everyProcess,
    },
    { name: 'chat-parking', everyMs: 5_000, run: async () => hub.parkIdle(), ...everyProcess },
    { name: 'chat-channels', everyMs: 30_000, run: async () => hub.evictIdle(), ...everyProcess },
    { name: 'chat-catch-up', everyMs: 1_500, run: catchUp, ...everyProcess },
    { name: 'chat-inboxes', everyMs: 1_000, run: async () => logFailure(log, interest.refresh()), ...everyProcess },
    { name: 'chat-inbox-catch-up', everyMs: 3_000, run: liveInboxes.catchUp, ...everyProcess },
    { name: 'chat-presence-sweep', everyMs: 1_000, run: () => presence.sweep() },
    { name: 'chat-typing-sweep', everyMs: 1_000, run: () => typing.sweep() },
    { name: 'chat-stranded-connections', everyMs: strandedEveryMs, run: connections.closeStranded },
    { name: 'chat-connection-retention', everyMs: 60_000, run: connections.deleteOld, ...withoutShared },
    ...files.chores,
    { name: 'chat-retention', everyMs: 60_000, run: retention.sweep, ...withoutShared },
    ...content.chores,
    ...moderation.chores,
  ];

  async function catchUp(): Promise<void> {
    if (await deps.missedChanges.arePossible()) await hub.catchUp();
  }

  return {
    handlers: {
      ...createHandlers({ ...deps, ...parts, threads, attachments, tokens, dashboard }),
      ...directHandlers(direct),
      ...blockHandlers(blocks),
      ...userHandlers(users),
      ...inboxHandlers(inbox, delivered),
      ...content.handlers,
      ...files.handlers,
      ...moderation.handlers,
    },
    sockets: [chatSocket],
    chores,
    /** The dispatcher's callback for what a killed process left. */
    recover: hub.recover,
    authenticateToken: tokens.authenticate,
    /** Histories from elsewhere. */
    importer: createImporter({ ...deps, hub }),
    personalData: createPersonalData({
      ...deps,
      hub,
      members,
      attachments,
      linkSeconds: deps.limits.DATA_EXPORT_SECONDS,
    }),
    /** Signed URLs of stores that do not serve files themselves. */
    files: { receive: attachments.receive, serve: attachments.serve },
    /** For live streams: a conversation of theirs, its people and their tokens. */
    provision: conversations.provision,
    archive: conversations.archive,
    ensureMember: members.ensure,
    dismissMember: members.dismiss,
    signToken: tokens.sign,
    /** For notifications: who need not be told. */
    areOnline: presence.areOnline,
    /** For tests that do not want to fill an inbox. */
    settleInbox: dormancy.settle,
    /** The chores, for tests that do not want to wait. */
    sweep: {
      retention: retention.sweep,
      ...files.sweep,
      presence: presence.sweep,
      typing: typing.sweep,
      ...content.sweep,
      ...moderation.sweep,
    },
    async start(): Promise<void> {
      hub.start();
      await interest.start();
      await blocks.start();
      await chatStanding.start();
      const isMoved = await renewEpochs(deps.db).catch((error) => log.warn({ error }, 'chat epochs not looked at'));
      if (isMoved) log.warn({}, 'the database was restored or moved: chat clients will reload');
      await connections.markAlive().catch((error) => log.warn({ error }, 'chat process not announced'));
    },
    async stop(): Promise<void> {
      await connections.flush().catch((error) => log.warn({ error }, 'chat connections not noted'));
      devices.stop();
      await files.stop();
      await dormancy.stop();
      blocks.stop();
      hub.stop();
      interest.stop();
      inboxFeed.stop();
      liveInboxes.stop();
    },
  };
}

export type Chat = ReturnType<typeof createChat>;
