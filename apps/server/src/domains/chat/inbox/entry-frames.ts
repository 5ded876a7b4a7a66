import { facesMax } from '@parley/contract';
import { frameText, type SocketFrame } from '../../../core/socket.ts';
import type { MemberRow } from './inbox-store.ts';
import type { LiveShared } from './live-store.ts';

/**
 * Frames of one conversation for its members: what they have in common is written once, however many they are. The same
 * fields in the same places as `entryOf` gives them.
 */
export function createEntryFrames(shared: LiveShared, ts: number): (userId: string, own: MemberRow) => SocketFrame {
  const { faces, lastActivityAt, lastMessage, ...record } = shared;
  const start = `{"type":"inbox.changed","conversationId":${JSON.stringify(shared.id)},"ts":${ts},"entry":{"conversation":`;
  const conversation = JSON.stringify(record).slice(0, -1);
  const last = JSON.stringify(lastMessage);
  const middle = `,"lastActivityAt":${JSON.stringify(lastActivityAt)},`;
  const shownIds = new Set(faces.map(({ userId }) => userId));
  const firstFaces = JSON.stringify(faces.slice(0, facesMax));
  const facesFor = (userId: string): string =>
    shownIds.has(userId)
      ? JSON.stringify(faces.filter((face) => face.userId !== userId).slice(0, facesMax))
      : firstFaces;

  return (userId, own) => {
    const { myRole, unreadCount, lastReadMessageId, unreadMentions, lastReadSeq, lastReadAt } = own;
    const { muted, mutedUntil, pinnedAt, hidden, ownLast } = own;
    const mine = JSON.stringify({ myRole, unreadCount, lastReadMessageId }).slice(1);
    const read = { unreadCount, unreadMentions, lastReadMessageId, lastReadSeq, lastReadAt };
    const rest = JSON.stringify({ ...read, muted, mutedUntil, pinned: pinnedAt !== null, pinnedAt, hidden });
    const shown = `,"lastMessage":${ownLast === null ? last : JSON.stringify(ownLast)}`;
    return frameText(
      `${start}${conversation},${mine}${shown}${middle}${rest.slice(1, -1)},"faces":${facesFor(userId)}}}`,
    );
  };
}
