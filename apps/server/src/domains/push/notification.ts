import { hash } from 'node:crypto';
import type { PushContent } from '@parley/contract';
import type { ClaimedPush } from './queue-store.ts';

/** What a device is told, in whatever form its service carries it. */
export interface Notification {
  /** Notifications with the same one replace each other. Says nothing of the conversation to who carries it. */
  collapseId: string;
  title: string;
  body: string | null;
  data: Readonly<Record<string, string>>;
}

const previewMax = 160;
const nameMax = 64;

/** How long a push service keeps it for a device that is off. */
export const keptSeconds = 86_400;

/** Without content it says where to look and nothing of who wrote what. */
export function notificationOf({ message, isMentioned }: ClaimedPush, content: PushContent): Notification {
  const { id, conversationId, senderId, senderName, conversationName, conversationType, text, type } = message;
  const collapseId = hash('sha256', conversationId, 'base64url').slice(0, 32);
  const data = { conversationId, messageId: id, mention: String(isMentioned) };
  if (content === 'NONE')
    return { collapseId, title: isMentioned ? 'You were mentioned' : 'New message', body: null, data };
  const sender = cut(senderName ?? senderId ?? conversationName, nameMax);
  const where = conversationType === 'DIRECT' ? '' : ` · ${cut(conversationName, nameMax)}`;
  return {
    collapseId,
    title: senderId === null ? sender : `${sender}${where}`,
    body: text === null ? (type === 'attachment' ? '📎' : null) : cut(text, previewMax),
    data: { ...data, ...(senderId === null ? {} : { senderId }) },
  };
}

/** By code points: half an emoji is none. */
function cut(text: string, max: number): string {
  const points = [...text.slice(0, max * 2 + 2)];
  return points.length > max ? `${points.slice(0, max - 1).join('')}…` : text;
}
