import {
  type Conversation,
  type CreateConversation,
  fail,
  type Limits,
  roleCan,
  type UpdateConversation,
} from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../../core/cursors.ts';
import { type Db, isDuplicate, type Reader, type Tx } from '../../../core/db.ts';
import { type Answer, page, recorded } from '../../../core/handlers.ts';
import type { Ids } from '../../../core/ids.ts';
import { ownerOf, type Quotas } from '../../../core/quotas.ts';
import { metadataJson } from '../../../core/safe-json.ts';
import type { Emit, UnitOfWork } from '../../../core/unit-of-work.ts';
import { refuse } from '../../../core/validation.ts';
import { assertScope, type ChatCaller, userOf } from '../callers.ts';
import { noteErasure } from '../inbox/live-store.ts';
import type { Hub } from '../live/hub.ts';
import { looksLikeId } from '../references.ts';
import {
  type ConversationEntry,
  type ConversationPage,
  findConversation,
  insertChange,
  listConversations,
  lockEntry,
  markConversationDeleted,
  updateConversation,
} from './conversation-store.ts';
import type { Entries } from './entries.ts';
import type { NewMember } from './member-store.ts';
import { type ConversationDraft, createProvision, type RoomsOfChat } from './provision.ts';

interface ConversationDeps {
  db: Db;
  quotas: Quotas;
  unitOfWork: UnitOfWork;
  entries: Entries;
  hub: Hub;
  clock: Clock;
  ids: Ids;
  cursors: Cursors;
  limits: Limits;
  rooms: RoomsOfChat;
}

export type Conversations = ReturnType<typeof createConversations>;

export function createConversations(deps: ConversationDeps) {
  const { db, quotas, unitOfWork, entries, hub, clock, cursors, limits, rooms } = deps;
  const retentionDefault = limits.CHAT_RETENTION_DAYS || null;

  function checkMetadata(metadata: object | null | undefined): object {
    metadataJson(metadata ?? {}, limits.CHAT_MAX_METADATA_BYTES);
    return metadata ?? {};
  }

  const read = async (db: Db | Tx, scope: ProjectScope, id: string, userId: string | null): Promise<Conversation> =>
    (await findConversation(db, scope, id, { retentionDefault, userId })) ?? fail('SVC_CONVERSATION_NOT_FOUND');

  const provision = createProvision({ ...deps, read });

  async function create(caller: ChatCaller, draft: CreateConversation): Promise<Conversation> {
    assertScope(caller, 'chat:manage');
    assertUsableName(draft.name);
    const members = uniqueMembers(draft.members ?? [], checkMetadata);
    const metadata = checkMetadata(draft.metadata);
    const roomId = draft.roomId === undefined ? null : await openRoom(caller, draft.roomId);
    const whole: ConversationDraft = {
      name: draft.name,
      type: roomId === null ? (draft.type ?? 'GROUP') : 'ROOM',
      roomId,
      retentionDays: draft.retentionDays ?? null,
      members,
      metadata,
    };
    return translateDuplicates(() => unitOfWork(caller, (tx, emit) => provision(tx, emit, caller, whole)));
  }

  async function openRoom(scope: ProjectScope, reference: string): Promise<string> {
    const { id, status } = await rooms.find(scope, reference);
    return status === 'ACTIVE' ? id : fail('SVC_ROOM_CLOSED');
  }

  async function get(caller: ChatCaller, reference: string): Promise<Conversation> {
    const { id } = await entries.enter(caller, reference, { scope: 'chat:read', action: 'read' });
    return read(db, caller, id, userOf(caller));
  }

  async function list(
    caller: ChatCaller,
    { limit = pageSizeDefault, cursor }: { limit?: number; cursor?: string },
    userId: string | null = userOf(caller),
  ): Promise<Answer<Conversation[]>> {
    assertScope(caller, 'chat:read');
    const listed = caller.kind === 'chatToken' ? caller.conversations : null;
    return listPage(caller, { limit, cursor, userId, listed });
  }

  async function listPage(
    scope: ProjectScope,
    options: Pick<ConversationPage, 'userId' | 'listed' | 'name' | 'type'> & {
      limit?: number;
      cursor?: string | undefined;
    },
    from: Reader = db,
  ): Promise<Answer<Conversation[]>> {
    const { limit = pageSizeDefault, cursor, ...filter } = options;
    const list = `conversations/${scope.projectId}/${scope.environment}/${filter.userId ?? ''}`;
    const after = cursor === undefined ? null : (cursors.read(list, cursor) as [string, string]);
    const rows = await listConversations(from, scope, { ...filter, retentionDefault, after, limit: limit + 1 });
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(list, [last.createdAt, last.uuid]));
    return page(items, nextCursor);
  }

  /** Only a change of slow mode is recorded in the audit log. */
  async function update(
    caller: ChatCaller,
    reference: string,
    change: UpdateConversation,
  ): Promise<Answer<Conversation>> {
    if (change.name !== undefined) assertUsableName(change.name);
    const metadata = change.metadata === undefined ? undefined : checkMetadata(change.metadata);
    const entered = await entries.enter(caller, reference, { scope: 'chat:edit', action: 'read' });
    // Retention deletes history for good: no role has that.
    if (change.retentionDays !== undefined && caller.kind === 'chatToken') fail('SVC_FORBIDDEN');
    const needs = { scope: 'chat:edit', action: 'updateConversation' } as const;
    const { slowModeSeconds } = change;
    const isSlowModeChanged = await translateDuplicates(() =>
      entries.change(caller, entered.id, needs, async (tx, emit, entry) => {
        const isArchiving = change.status !== undefined && change.status !== entry.status;
        if (isArchiving && entry.role && !roleCan(entry.role, 'archive')) fail('SVC_FORBIDDEN');
        const at = iso(clock.now());
        const before = slowModeSeconds === undefined ? undefined : await read(tx, caller, entry.id, null);
        if (!(await updateConversation(tx, caller, entry.id, { ...change, metadata }, at))) return false;
        await emitUpdated(tx, emit, caller, entry, at);
        return before?.slowModeSeconds !== slowModeSeconds;
      }),
    );
    const conversation = await read(db, caller, entered.id, userOf(caller));
    const subject = { resourceId: conversation.id, environment: caller.environment, metadata: { slowModeSeconds } };
    return recorded(conversation, isSlowModeChanged ? subject : null);
  }

  async function emitUpdated(
    tx: Tx,
    emit: Emit,
    scope: ProjectScope,
    entry: Pick<ConversationEntry, 'id' | 'publicId'>,
    at: string,
  ): Promise<void> {
    const conversation = await read(tx, scope, entry.id, null);
    const data = { conversation };
    const number = await insertChange(tx, entry.id, { type: 'conversation.updated', data, at });
    const update = { conversationId: entry.publicId, change: number, conversation, at };
    hub.emitChange(emit, 'conversation.updated', update);
  }

  /** For another domain: no new content from here on. Archiving twice is the same as once. */
  async function archive(scope: ProjectScope, id: string): Promise<void> {
    await unitOfWork(scope, async (tx, emit) => {
      const entry = await lockEntry(tx, scope, id, null);
      if (entry?.status !== 'ACTIVE') return;
      const at = iso(clock.now());
      await updateConversation(tx, scope, entry.id, { status: 'ARCHIVED' }, at);
      await emitUpdated(tx, emit, scope, entry, at);
    });
  }

  /** In the caller's transaction and under the row's lock: an archived conversation takes content again. */
  async function reactivate(tx: Tx, emit: Emit, scope: ProjectScope, entry: ConversationEntry): Promise<void> {
    const at = iso(clock.now());
    if (!(await updateConversation(tx, scope, entry.id, { status: 'ACTIVE' }, at))) return;
    await emitUpdated(tx, emit, scope, entry, at);
  }

  /** Gone at once; the sweep removes its content. */
  async function erase(caller: ChatCaller, reference: string): Promise<Conversation> {
    const needs = { scope: 'chat:manage', action: 'archive' } as const;
    const entered = await entries.enter(caller, reference, needs);
    return entries.change(caller, entered.id, needs, async (tx, emit, entry) => {
      const at = iso(clock.now());
      const number = await insertChange(tx, entry.id, { type: 'conversation.deleted', at });
      await markConversationDeleted(tx, caller, entry.id, at);
      await noteErasure(tx, caller, at);
      await quotas.giveBack(tx, 'CHAT_MAX_CONVERSATIONS', ownerOf(caller));
      if (entry.roomId !== null) await rooms.link(tx, caller, entry.roomId, null);
      const data = { conversationId: entry.publicId, change: number, at };
      hub.emitChange(emit, 'conversation.deleted', data);
      return read(tx, caller, entry.id, null);
    });
  }

  return { provision, create, get, list, listPage, update, archive, reactivate, erase };
}

function assertUsableName(name: string): void {
  if (looksLikeId(name)) {
    refuse([{ field: 'name', rule: 'pattern', message: 'name must not look like an id (conv_…, room_… or a uuid).' }]);
  }
}

/** A bare text is a member with the default role; the last entry of a user counts. */
function uniqueMembers(
  given: NonNullable<CreateConversation['members']>,
  check: (metadata: object | null | undefined) => object,
): NewMember[] {
  const members = new Map<string, NewMember>();
  for (const entry of given) {
    const { userId, role = 'MEMBER', metadata } = typeof entry === 'string' ? { userId: entry } : entry;
    members.set(userId, { userId, role, metadata: check(metadata) });
  }
  return [...members.values()];
}

async function translateDuplicates<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isDuplicate(error, 'conversations_name')) fail('SVC_CONVERSATION_NAME_TAKEN');
    if (isDuplicate(error, 'conversations_room')) fail('SVC_ROOM_ALREADY_ATTACHED');
    throw error;
  }
}
