import {
  type AddConversationMember,
  type ChangeConversationMember,
  type ChatMemberRole,
  type ConversationMember,
  fail,
  type Limits,
  roleCan,
  roleRules,
} from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../../core/cursors.ts';
import type { Db, Reader, Tx } from '../../../core/db.ts';
import { Answer, page } from '../../../core/handlers.ts';
import { metadataJson } from '../../../core/safe-json.ts';
import type { Emit } from '../../../core/unit-of-work.ts';
import { actorOf, type ChatCaller, userOf } from '../callers.ts';
import type { Hub } from '../live/hub.ts';
import type { Admission } from '../moderation/admission.ts';
import { type ConversationEntry, insertChange, lockEntry } from './conversation-store.ts';
import type { Entries } from './entries.ts';
import { activateMember, deactivateMember, findMember, listMembers, updateMember } from './member-store.ts';

interface MemberDeps {
  db: Db;
  entries: Entries;
  hub: Hub;
  clock: Clock;
  cursors: Cursors;
  limits: Limits;
  admission: Admission;
}

interface Added {
  member: ConversationMember;
  isNew: boolean;
}

export type Members = ReturnType<typeof createMembers>;

export function createMembers({ db, entries, hub, clock, cursors, limits, admission }: MemberDeps) {
  /** Under the conversation's lock: adds, re-activates, or finds that there is nothing to do. */
  async function activate(
    tx: Tx,
    emit: Emit,
    entry: Pick<ConversationEntry, 'id' | 'publicId' | 'projectId' | 'environment'>,
    draft: { userId: string; role: ChatMemberRole | null; metadata: object | null },
  ): Promise<Added> {
    const known = await findMember(tx, entry.id, draft.userId);
    if (known?.active) return { member: known, isNew: false };
    await admission.assertMayJoin(tx, entry, entry.publicId, draft.userId);
    const at = iso(clock.now());
    const member = await activateMember(tx, entry.id, draft, at);
    const change = await insertChange(tx, entry.id, { type: 'member.added', data: { member }, at });
    const { userId, role } = member;
    const data = { conversationId: entry.publicId, change, userId, role, reactivated: known !== undefined, at, member };
    hub.emitChange(emit, 'member.added', data);
    return { member, isNew: true };
  }

  async function add(
    caller: ChatCaller,
    reference: string,
    draft: AddConversationMember,
  ): Promise<Answer<ConversationMember>> {
    const metadata = checkMetadata(draft.metadata);
    const entered = await entries.enter(caller, reference, { scope: 'chat:edit', action: 'read' });
    const needs = { scope: 'chat:edit', action: 'addMember', isWrite: true } as const;
    const { member, isNew } = await entries.change(caller, entered.id, needs, async (tx, emit, entry) => {
      const role = draft.role ?? null;
      const known = await findMember(tx, entry.id, draft.userId);
      // A removed admin keeps the old role when re-added: that too must be below the adder.
      const wanted = role ?? known?.role ?? 'MEMBER';
      if (entry.role && !roleRules(entry.role, wanted)) fail('SVC_FORBIDDEN');
      if (entry.isDirect && !known) fail('SVC_DIRECT_MEMBERS_FIXED');
      return activate(tx, emit, entry, { userId: draft.userId, role, metadata });
    });
    return new Answer(member, { isRepeat: !isNew });
  }

  function checkMetadata(metadata: object | null | undefined): object | null {
    if (metadata === undefined) return null;
    metadataJson(metadata ?? {}, limits.CHAT_MAX_METADATA_BYTES);
    return metadata ?? {};
  }

  async function change(
    caller: ChatCaller,
    reference: string,
    userId: string,
    draft: ChangeConversationMember,
  ): Promise<ConversationMember> {
    const metadata = checkMetadata(draft.metadata);
    const entered = await entries.enter(caller, reference, { scope: 'chat:edit', action: 'read' });
    const needs = { scope: 'chat:edit', action: 'addMember', isWrite: true } as const;
    return entries.change(caller, entered.id, needs, async (tx, emit, entry) => {
      const known = await activeMember(tx, entry.id, userId);
      const role = draft.role ?? null;
      if (
        entry.role &&
        ![known.role, role ?? known.role].every((other) => entry.role && roleRules(entry.role, other))
      ) {
        fail('SVC_FORBIDDEN');
      }
      if (metadata === null && (role === null || role === known.role)) return known;
      return rewrite(tx, emit, entry, userId, { role, metadata });
    });
  }

  async function rewrite(
    tx: Tx,
    emit: Emit,
    entry: Pick<ConversationEntry, 'id' | 'publicId'>,
    userId: string,
    draft: { role: ChatMemberRole | null; metadata: object | null },
  ): Promise<ConversationMember> {
    const at = iso(clock.now());
    const member = await updateMember(tx, entry.id, userId, draft);
    const change = await insertChange(tx, entry.id, { type: 'member.updated', data: { member }, at });
    const data = { conversationId: entry.publicId, change, userId, role: member.role, at, member };
    hub.emitChange(emit, 'member.updated', data);
    return member;
  }

  const activeMember = async (db: Db | Tx, id: string, userId: string): Promise<ConversationMember> => {
    const member = await findMember(db, id, userId);
    return member?.active ? member : fail('SVC_MEMBER_NOT_FOUND');
  };

  async function remove(caller: ChatCaller, reference: string, userId: string): Promise<ConversationMember> {
    const entered = await entries.enter(caller, reference, { scope: 'chat:edit', action: 'read' });
    // An API key may still remove members of an archived conversation.
    const needs = { scope: 'chat:edit', action: 'read', isWrite: caller.kind === 'chatToken' } as const;
    return entries.change(caller, entered.id, needs, async (tx, emit, entry) => {
      const known = await activeMember(tx, entry.id, userId);
      const isOneself = userOf(caller) === userId;
      if (entry.role && !isOneself && !(roleCan(entry.role, 'removeMember') && roleRules(entry.role, known.role))) {
        fail('SVC_FORBIDDEN');
      }
      return deactivate(tx, emit, entry, userId, actorOf(caller));
    });
  }

  async function deactivate(
    tx: Tx,
    emit: Emit,
    entry: Pick<ConversationEntry, 'id' | 'publicId'>,
    userId: string,
    removedBy: string,
  ): Promise<ConversationMember> {
    const at = iso(clock.now());
    const member = await deactivateMember(tx, entry.id, userId, at);
    const change = await insertChange(tx, entry.id, { type: 'member.removed', data: { member }, at });
    const data = { conversationId: entry.publicId, change, userId, removedBy, at, member };
    hub.emitChange(emit, 'member.removed', data);
    return member;
  }

  /** For another domain, in its transaction: makes a user a member with exactly this role, unless a ban keeps them out. */
  async function ensure(
    tx: Tx,
    emit: Emit,
    scope: ProjectScope,
    conversationUuid: string,
    draft: { userId: string; role: ChatMemberRole },
  ): Promise<ConversationMember | null> {
    const entry = (await lockEntry(tx, scope, conversationUuid, null)) ?? fail('SVC_CONVERSATION_NOT_FOUND');
    if (await admission.isBanned(tx, scope, entry.publicId, draft.userId)) return null;
    const { member } = await activate(tx, emit, entry, { ...draft, metadata: null });
    if (member.role === draft.role) return member;
    return rewrite(tx, emit, entry, draft.userId, { role: draft.role, metadata: null });
  }

  /** For another domain, in its transaction: an ordinary member from here on, and no active one. */
  async function dismiss(
    tx: Tx,
    emit: Emit,
    scope: ProjectScope,
    conversationUuid: string,
    userId: string,
  ): Promise<void> {
    const entry = (await lockEntry(tx, scope, conversationUuid, null)) ?? fail('SVC_CONVERSATION_NOT_FOUND');
    const known = await findMember(tx, entry.id, userId);
    if (!known) return;
    await updateMember(tx, entry.id, userId, { role: 'MEMBER', metadata: null });
    if (known.active) await deactivate(tx, emit, entry, userId, 'server');
  }

  async function list(
    caller: ChatCaller,
    reference: string,
    query: { limit?: number; cursor?: string },
  ): Promise<Answer<ConversationMember[]>> {
    const entry = await entries.enter(caller, reference, { scope: 'chat:read', action: 'read' });
    return listPage(entry, query, entry.isSilenced ? userOf(caller) : null);
  }

  async function listPage(
    { id }: Pick<ConversationEntry, 'id'>,
    { limit = pageSizeDefault, cursor }: { limit?: number; cursor?: string },
    /** Who is out of touch with the other: what they have read is not told. */
    alone: string | null = null,
    from: Reader = db,
  ): Promise<Answer<ConversationMember[]>> {
    const list = `conversation-members/${id}`;
    const after = cursor === undefined ? null : (cursors.read(list, cursor) as [string, string]);
    const rows = await listMembers(from, id, after, limit + 1);
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(list, [last.joinedAt, last.userId]));
    const unread = { lastReadMessageId: null, lastReadAt: null };
    const shown = items.map((one) => (alone === null || one.userId === alone ? one : { ...one, ...unread }));
    return page(shown, nextCursor);
  }

  return { add, activate, change, remove, expel: deactivate, ensure, dismiss, list, listPage };
}
