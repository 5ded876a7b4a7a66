import {
  type chatDraftRoutes,
  type DraftsQuery,
  fail,
  type Limits,
  type MessageDraft,
  type SetDraft,
} from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../../core/cursors.ts';
import type { Db } from '../../../core/db.ts';
import { type Handlers, page } from '../../../core/handlers.ts';
import { metadataJson } from '../../../core/safe-json.ts';
import { assertScope, type ChatCaller, subjectOf } from '../callers.ts';
import type { Entries } from '../conversations/entries.ts';
import { assertTextFits } from '../messages/draft-rules.ts';
import type { Devices } from './devices.ts';
import { type DraftRow, deleteDraft, findDraft, listDrafts, writeDraft } from './draft-store.ts';

interface DraftDeps {
  db: Db;
  clock: Clock;
  cursors: Cursors;
  limits: Limits;
  entries: Entries;
  devices: Devices;
}

type Drafts = ReturnType<typeof createDrafts>;

/** What users have begun to write: one draft a user and conversation, for all of their devices. */
export function createDrafts({ db, clock, cursors, limits, entries, devices }: DraftDeps) {
  const writing = { scope: 'chat:send', action: 'send' } as const;
  const reading = { scope: 'chat:read', action: 'read' } as const;

  async function set(caller: ChatCaller, reference: string, draft: SetDraft, named?: string): Promise<MessageDraft> {
    const userId = subjectOf(caller, named);
    assertTextFits(draft.text, limits.CHAT_MAX_TEXT_LENGTH);
    if (draft.metadata) metadataJson(draft.metadata, limits.CHAT_MAX_METADATA_BYTES);
    const { id, publicId: conversationId } = await entries.enter(caller, reference, writing);
    const at = iso(clock.now());
    const { text, replyTo = null, metadata } = draft;
    const written =
      (await writeDraft(db, id, userId, { text, replyTo, metadata: metadata ?? {}, at })) ?? fail('SVC_NOT_A_MEMBER');
    devices.tell(caller, userId, conversationId, { draft: written });
    return written;
  }

  async function get(caller: ChatCaller, reference: string, named?: string): Promise<MessageDraft> {
    const userId = subjectOf(caller, named);
    const { id } = await entries.enter(caller, reference, reading);
    return shown((await findDraft(db, id, userId)) ?? fail('SVC_DRAFT_NOT_FOUND'));
  }

  async function remove(caller: ChatCaller, reference: string, named?: string): Promise<undefined> {
    const userId = subjectOf(caller, named);
    const { id, publicId: conversationId } = await entries.enter(caller, reference, { ...writing, action: 'read' });
    if (await deleteDraft(db, id, userId)) devices.tell(caller, userId, conversationId, { draft: null });
    return undefined;
  }

  async function list(caller: ChatCaller, { limit = pageSizeDefault, cursor, userId: named }: DraftsQuery) {
    assertScope(caller, 'chat:read');
    const userId = subjectOf(caller, named);
    const name = `drafts/${caller.projectId}/${caller.environment}/${userId}`;
    const after = cursor === undefined ? null : (cursors.read(name, cursor) as [string, string]);
    const listed = caller.kind === 'chatToken' ? caller.conversations : null;
    const rows = await listDrafts(db, caller, { userId, listed, after, limit: limit + 1 });
    const { items, nextCursor } = cutPage(rows, limit, (last) =>
      cursors.write(name, [last.updatedAt, last.conversationUuid]),
    );
    return page(items.map(shown), nextCursor);
  }

  return { set, get, remove, list };
}

const shown = ({ conversationUuid: _uuid, ...draft }: DraftRow): MessageDraft => draft;

export const draftHandlers = (drafts: Drafts): Handlers<typeof chatDraftRoutes> => ({
  setDraft: ({ caller, params, query, body }) => drafts.set(caller, params.room, body, query.userId),
  getDraft: ({ caller, params, query }) => drafts.get(caller, params.room, query.userId),
  deleteDraft: ({ caller, params, query }) => drafts.remove(caller, params.room, query.userId),
  listDrafts: ({ caller, query }) => drafts.list(caller, query),
});
