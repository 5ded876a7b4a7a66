import { randomBytes } from 'node:crypto';
import type { Conversation } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Tx } from '../../../core/db.ts';
import type { Ids } from '../../../core/ids.ts';
import { ownerOf, type Quotas } from '../../../core/quotas.ts';
import type { Emit } from '../../../core/unit-of-work.ts';
import { topicOf } from '../live/change.ts';
import type { Hub } from '../live/hub.ts';
import { insertConversation } from './conversation-store.ts';
import { insertMembers, type NewMember } from './member-store.ts';

/** What chat asks of rooms. */
export interface RoomsOfChat {
  /** The room behind a reference, or SVC_ROOM_NOT_FOUND. */
  find(scope: ProjectScope, reference: string): Promise<{ id: string; status: 'ACTIVE' | 'CLOSED' }>;
  /** Says in the room which conversation it has; in the transaction that makes it so. */
  link(tx: Tx, scope: ProjectScope, roomId: string, conversationId: string | null): Promise<void>;
}

interface ProvisionDeps {
  quotas: Quotas;
  hub: Hub;
  clock: Clock;
  ids: Ids;
  rooms: Pick<RoomsOfChat, 'link'>;
  read: (tx: Tx, scope: ProjectScope, id: string, userId: string | null) => Promise<Conversation>;
}

/** A conversation for another domain, which has checked everything about it. */
export interface ConversationDraft {
  name: string;
  type: Conversation['type'];
  roomId: string | null;
  liveStreamId?: string;
  directKey?: string;
  retentionDays?: number | null;
  members: NewMember[];
  metadata: object;
}

const membersInEventMax = 50;

export function createProvision({ quotas, hub, clock, ids, rooms, read }: ProvisionDeps) {
  /** Creates a conversation in the caller's transaction. */
  return async function provision(
    tx: Tx,
    emit: Emit,
    scope: ProjectScope,
    draft: ConversationDraft,
  ): Promise<Conversation> {
    const { members } = draft;
    const [id, at] = [ids.newUuid(), iso(clock.now())];
    await insertConversation(tx, scope, {
      id,
      publicId: ids.newId('conversation'),
      name: draft.name,
      type: draft.type,
      roomId: draft.roomId,
      liveStreamId: draft.liveStreamId ?? null,
      directKey: draft.directKey ?? null,
      retentionDays: draft.retentionDays ?? null,
      metadata: draft.metadata,
      epoch: randomBytes(6).toString('base64url'),
      memberCount: members.length,
      at,
    });
    await insertMembers(tx, id, members, at);
    const conversation = await read(tx, scope, id, null);
    if (draft.roomId !== null) await rooms.link(tx, scope, draft.roomId, conversation.id);
    emit({
      type: 'conversation.created',
      topic: topicOf(conversation.id),
      afterCommit: (scope) => hub.changed(scope, conversation.id),
      data: {
        conversation,
        members: members.slice(0, membersInEventMax).map(({ userId, role }) => ({ userId, role })),
      },
    });
    await quotas.take(tx, 'CHAT_MAX_CONVERSATIONS', ownerOf(scope));
    return conversation;
  };
}
