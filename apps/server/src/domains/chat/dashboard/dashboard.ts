import {
  type ChatConnection,
  type ChatOverview,
  type Conversation,
  type ConversationMember,
  type ConversationOverview,
  fail,
  type Limits,
  type MessageMetadata,
  type Presence,
} from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../../core/cursors.ts';
import type { Db } from '../../../core/db.ts';
import { type Answer, page } from '../../../core/handlers.ts';
import type { ReplicatedReads } from '../../../core/replicated-reads.ts';
import { cacheSlowReads } from '../../../core/slow-reads.ts';
import {
  type ConversationEntry,
  type ConversationPage,
  findConversation,
  findEntry,
} from '../conversations/conversation-store.ts';
import type { Conversations } from '../conversations/conversations.ts';
import type { Members } from '../conversations/members.ts';
import { listConnections } from '../live/connection-store.ts';
import type { ConnectionLog } from '../live/connections.ts';
import type { PresenceOf } from '../live/presence.ts';
import { readReference } from '../references.ts';
import { countChat, countHours, countParts, listMessageMetadata } from './dashboard-store.ts';
import { createUserPages } from './users.ts';

interface DashboardDeps {
  db: Db;
  replicated: ReplicatedReads;
  clock: Clock;
  cursors: Cursors;
  limits: Limits;
  conversations: Conversations;
  members: Members;
  presence: PresenceOf;
  connections: ConnectionLog;
}

interface PageQuery {
  limit?: number;
  cursor?: string;
}

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

/** What people signed in to the dashboard see: metadata, never content. */
export function createDashboard(deps: DashboardDeps) {
  const { db, replicated, clock, cursors, limits, conversations, members, presence, connections } = deps;

  const entry = async (scope: ProjectScope, reference: string): Promise<ConversationEntry> =>
    (await findEntry(db, scope, readReference(reference), null)) ?? fail('SVC_CONVERSATION_NOT_FOUND');

  async function count(scope: ProjectScope): Promise<ChatOverview> {
    const now = clock.now();
    // Connections are written a moment late: what is shown as "now" must not be.
    await connections.flush();
    const hour = Math.floor(now / hourMs);
    const [counts, byHour] = await Promise.all([
      countChat(replicated.current, scope, { now: iso(now), dayAgo: iso(now - dayMs), weekAgo: iso(now - 7 * dayMs) }),
      countHours(replicated.current, scope, iso((hour - 23) * hourMs)),
    ]);
    const hours = Array.from({ length: 24 }, (_, index) => hour - 23 + index);
    return { ...counts, hours: hours.map((at) => ({ at: iso(at * hourMs), messages: byHour.get(at) ?? 0 })) };
  }

  return {
    ...createUserPages(deps),
    /** `asOf` says of when it is. */
    overview: cacheSlowReads(clock, count),

    async connections(
      scope: ProjectScope,
      { limit = pageSizeDefault, cursor }: PageQuery,
    ): Promise<Answer<ChatConnection[]>> {
      await connections.flush();
      const list = `chat-connections/${scope.projectId}/${scope.environment}`;
      const after = cursor === undefined ? null : (cursors.read(list, cursor) as [string, string]);
      const rows = await listConnections(replicated.current, scope, after, limit + 1);
      const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(list, [last.connectedAt, last.id]));
      return page(items, nextCursor);
    },

    conversations: (
      scope: ProjectScope,
      { userId = '', ...query }: PageQuery & Pick<ConversationPage, 'name' | 'type'> & { userId?: string },
    ): Promise<Answer<Conversation[]>> =>
      conversations.listPage(scope, { ...query, userId: userId || null, listed: null }, replicated.current),

    async conversation(scope: ProjectScope, reference: string): Promise<ConversationOverview> {
      const { id } = await entry(scope, reference);
      const retentionDefault = limits.CHAT_RETENTION_DAYS || null;
      const [found, parts] = await Promise.all([
        findConversation(db, scope, id, { retentionDefault, userId: null }),
        countParts(replicated.current, id),
      ]);
      return { ...(found ?? fail('SVC_CONVERSATION_NOT_FOUND')), ...parts };
    },

    members: async (scope: ProjectScope, reference: string, query: PageQuery): Promise<Answer<ConversationMember[]>> =>
      members.listPage(await entry(scope, reference), query, null, replicated.current),

    async messages(
      scope: ProjectScope,
      reference: string,
      { limit = pageSizeDefault, cursor }: PageQuery,
    ): Promise<Answer<MessageMetadata[]>> {
      const { id } = await entry(scope, reference);
      const list = `chat-message-metadata/${id}`;
      const before = cursor === undefined ? null : Number(cursors.read(list, cursor)[0]);
      const rows = await listMessageMetadata(replicated.current, id, before, limit + 1);
      const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(list, [last.position]));
      return page<MessageMetadata>(items, nextCursor);
    },

    presence: async (scope: ProjectScope, reference: string, query: PageQuery): Promise<Answer<Presence[]>> =>
      presence.list((await entry(scope, reference)).publicId, query),
  };
}
