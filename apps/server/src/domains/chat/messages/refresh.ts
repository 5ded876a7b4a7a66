import type { LinkPreview } from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Tx } from '../../../core/db.ts';
import type { Emit } from '../../../core/unit-of-work.ts';
import { insertChange } from '../conversations/conversation-store.ts';
import type { Hub } from '../live/hub.ts';
import { findFresh, renewMessage } from './refresh-store.ts';

/** Something of a message is known only now: told as a change with its number, though nobody edited it. */
export type Refresh = ReturnType<typeof createRefresh>;

export function createRefresh({ clock, hub }: { clock: Clock; hub: Pick<Hub, 'emitChange'> }) {
  /** The caller holds the conversation's lock. Nothing happens to a message that is deleted. */
  return async (
    tx: Tx,
    emit: Emit,
    { conversationUuid, conversationId }: { conversationUuid: string; conversationId: string },
    messageId: string,
    preview?: LinkPreview,
  ): Promise<void> => {
    const found = await findFresh(tx, conversationUuid, messageId);
    if (!found) return;
    const at = iso(clock.now());
    const change = await insertChange(tx, conversationUuid, { type: 'message.updated', messageId, at });
    const message = await renewMessage(tx, messageId, change, preview);
    const data = { conversationId, change, message, previousEditedAt: found.editedAt, at };
    hub.emitChange(emit, 'message.updated', data);
  };
}
