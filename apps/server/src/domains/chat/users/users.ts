import {
  type ChatUser,
  type ChatUserFields,
  type ChatUsersQuery,
  type chatUserRoutes,
  chatUsersMax,
  fail,
  identityPattern,
  type Limits,
  type PutChatUsers,
} from '@parley/contract';
import type { ApiKeyCaller } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../../core/cursors.ts';
import type { Db } from '../../../core/db.ts';
import { type Answer, type Handlers, page } from '../../../core/handlers.ts';
import { ownerOf, type Quotas } from '../../../core/quotas.ts';
import { metadataJson } from '../../../core/safe-json.ts';
import type { UnitOfWork } from '../../../core/unit-of-work.ts';
import { refuse } from '../../../core/validation.ts';
import { assertScope, type ChatCaller, userOf } from '../callers.ts';
import { deleteUser, findSharing, findUsers, listUsers, type UserDraft, upsertUsers } from './user-store.ts';
import type { UserUpdates } from './user-updates.ts';

interface ChatUserDeps {
  db: Db;
  unitOfWork: UnitOfWork;
  quotas: Quotas;
  clock: Clock;
  cursors: Cursors;
  limits: Limits;
  news: Pick<UserUpdates, 'publish'>;
}

type ChatUsers = ReturnType<typeof createChatUsers>;

const allFields = ['name', 'avatarUrl', 'role', 'metadata'] as const;
const identity = new RegExp(identityPattern);

export function createChatUsers({ db, unitOfWork, quotas, clock, cursors, limits, news }: ChatUserDeps) {
  function checked(userId: string, { name, avatarUrl, role, metadata }: ChatUserFields): UserDraft {
    assertIdentity('userId', userId);
    if (avatarUrl && !URL.canParse(avatarUrl)) {
      refuse([{ field: 'avatarUrl', rule: 'format', message: 'avatarUrl must be an http or https address.' }]);
    }
    metadataJson(metadata ?? {}, limits.CHAT_MAX_METADATA_BYTES);
    return { userId, name, avatarUrl, role, ...(metadata === undefined ? {} : { metadata: metadata ?? {} }) };
  }

  /** Stored with an event for each that changed; those who stayed as they were make none. */
  async function write(
    caller: ApiKeyCaller,
    drafts: readonly UserDraft[],
    fields: readonly (typeof allFields)[number][],
  ): Promise<ChatUser[]> {
    return unitOfWork(caller, async (tx, emit) => {
      const at = iso(clock.now());
      const changed = await upsertUsers(tx, caller, drafts, fields, at);
      for (const { isNew: _isNew, ...user } of changed) {
        emit({ type: 'chat_user.updated', data: { user, at }, afterCommit: () => news.publish(caller, user) });
      }
      const ids = drafts.map(({ userId }) => userId);
      const users = inOrder(ids, await findUsers(tx, caller, ids));
      const added = changed.filter(({ isNew }) => isNew).length;
      if (added > 0) await quotas.take(tx, 'CHAT_MAX_USERS', ownerOf(caller), added);
      return users;
    });
  }

  const first = ([user]: readonly ChatUser[]): ChatUser => user ?? fail('SVC_USER_NOT_FOUND');

  async function put(caller: ApiKeyCaller, userId: string, draft: ChatUserFields): Promise<ChatUser> {
    return first(await write(caller, [checked(userId, draft)], allFields));
  }

  async function putAll(caller: ApiKeyCaller, { users }: PutChatUsers): Promise<ChatUser[]> {
    const drafts = users.map(({ userId, ...draft }) => checked(userId, draft));
    if (new Set(drafts.map(({ userId }) => userId)).size < drafts.length) {
      refuse([{ field: 'users', rule: 'uniqueItems', message: 'users must not have the same userId twice.' }]);
    }
    return write(caller, drafts, allFields);
  }

  async function update(caller: ApiKeyCaller, userId: string, draft: ChatUserFields): Promise<ChatUser> {
    const given = allFields.filter((field) => draft[field] !== undefined);
    return first(await write(caller, [checked(userId, draft)], given));
  }

  async function remove(caller: ApiKeyCaller, userId: string): Promise<undefined> {
    await unitOfWork(caller, async (tx, emit) => {
      if (!isIdentity(userId) || !(await deleteUser(tx, caller, userId))) fail('SVC_USER_NOT_FOUND');
      const at = iso(clock.now());
      const data = { userId, at };
      const gone = { ...nobody(userId), updatedAt: at };
      emit({ type: 'chat_user.deleted', data, afterCommit: () => news.publish(caller, gone) });
      await quotas.giveBack(tx, 'CHAT_MAX_USERS', ownerOf(caller));
    });
    return undefined;
  }

  /** Those of them that exist for the caller, in this order. One without a record exists by a conversation. */
  async function read(caller: ChatCaller, ids: readonly string[]): Promise<ChatUser[]> {
    assertScope(caller, 'chat:read');
    const viewer = caller.kind === 'chatToken' ? { userId: caller.userId, listed: caller.conversations } : null;
    const records = await findUsers(db, caller, ids);
    const asked = viewer ? ids : ids.filter((id) => !records.some(({ userId }) => userId === id));
    const sharing = await findSharing(db, caller, asked, viewer);
    const own = userOf(caller);
    const seen = ids.filter((id) => id === own || sharing.has(id) || !asked.includes(id));
    return inOrder(seen, records);
  }

  const get = async (caller: ChatCaller, userId: string): Promise<ChatUser> =>
    first(isIdentity(userId) ? await read(caller, [userId]) : []);

  async function list(caller: ChatCaller, query: ChatUsersQuery): Promise<Answer<ChatUser[]>> {
    const { ids, limit = pageSizeDefault, cursor } = query;
    if (ids !== undefined) return page(await read(caller, idsOf(ids)), null);
    if (caller.kind === 'chatToken') return page(await read(caller, [caller.userId]), null);
    const scope = `chat-users/${caller.projectId}/${caller.environment}`;
    const after = cursor === undefined ? null : (cursors.read(scope, cursor) as [string])[0];
    const rows = await listUsers(db, caller, after, limit + 1);
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(scope, [last.userId]));
    return page(items, nextCursor);
  }

  return { put, putAll, update, remove, get, list };
}

export const userHandlers = (users: ChatUsers): Handlers<typeof chatUserRoutes> => ({
  listChatUsers: ({ caller, query }) => users.list(caller, query),
  putChatUsers: ({ caller, body }) => users.putAll(caller, body),
  getChatUser: ({ caller, params }) => users.get(caller, params.userId),
  putChatUser: ({ caller, params, body }) => users.put(caller, params.userId, body),
  updateChatUser: ({ caller, params, body }) => users.update(caller, params.userId, body),
  deleteChatUser: ({ caller, params }) => users.remove(caller, params.userId),
});

/** Of whom nothing is said. */
const nobody = (userId: string): ChatUser => ({
  userId,
  name: null,
  avatarUrl: null,
  role: null,
  metadata: {},
  createdAt: null,
  updatedAt: null,
});

function inOrder(ids: readonly string[], records: readonly ChatUser[]): ChatUser[] {
  const known = new Map(records.map((record) => [record.userId, record]));
  return ids.map((id) => known.get(id) ?? nobody(id));
}

function idsOf(text: string): string[] {
  const ids = [...new Set(text.split(','))];
  if (ids.length > chatUsersMax) {
    refuse([{ field: 'ids', rule: 'maxItems', message: `ids must name ${chatUsersMax} users or fewer.` }]);
  }
  for (const id of ids) assertIdentity('ids', id);
  return ids;
}

const isIdentity = (text: string): boolean => text.length <= 128 && identity.test(text);

function assertIdentity(field: string, userId: string): void {
  if (isIdentity(userId)) return;
  refuse([{ field, rule: 'pattern', message: `${field} must match ${identityPattern}, up to 128 characters.` }]);
}
