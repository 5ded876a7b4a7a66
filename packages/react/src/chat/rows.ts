import type { Message } from '@parley/client/chat';

/** The same before and after it is stored; another user's message may bear our `clientMessageId`. */
export const keyOf = (message: Message, userId: string): string =>
  (message.senderId === userId ? (message.clientMessageId ?? message.id) : message.id) ?? '';

const TOGETHER_MS = 5 * 60_000;
const dayOf = (message: Message): string => new Date(message.createdAt).toDateString();

/** The first of its day, or of the whole list. */
export const startsDay = (message: Message, previous: Message | undefined): boolean =>
  previous === undefined || dayOf(previous) !== dayOf(message);

/** Follows a message of the same sender so soon that the name is not said again. */
export const continues = (message: Message, previous: Message | undefined): boolean =>
  previous !== undefined &&
  previous.senderId === message.senderId &&
  message.replyTo === null &&
  !startsDay(message, previous) &&
  Date.parse(message.createdAt) - Date.parse(previous.createdAt) < TOGETHER_MS;

/** Finds messages by their ids. The first that is asked for pays for all, so that none costs a walk over the list. */
export function finderOf(messages: readonly Message[]): (id: string | null) => Message | undefined {
  let known: Map<string | null, Message> | undefined;
  return (id) => {
    if (id === null) return;
    if (!known) {
      known = new Map();
      for (const message of messages) known.set(message.id, message);
    }
    return known.get(id);
  };
}

/** Whose mark is at this message: read up to here and not to the next one. */
export function readersAt(
  marks: ReadonlyMap<string, number>,
  { seq }: Message,
  next: Message | undefined,
): readonly string[] {
  if (seq === null) return [];
  const end = next?.seq ?? Number.POSITIVE_INFINITY;
  return [...marks].filter(([, mark]) => mark >= seq && mark < end).map(([reader]) => reader);
}

/** A thread: its root, then the replies that are known, oldest first, and what is on its way to it. */
export function threadOf(root: Message, loaded: readonly Message[], read: readonly Message[]): readonly Message[] {
  const isIn = (message: Message): boolean =>
    message.threadRootId === root.id || (message.id === null && message.replyTo === root.id);
  const live = loaded.filter(isIn);
  const known = new Set(live.map(({ id }) => id));
  const replies = [...read.filter(({ id }) => id !== root.id && !known.has(id)), ...live];
  const seqOf = ({ seq }: Message): number => seq ?? Number.POSITIVE_INFINITY;
  return [loaded.findLast(({ id }) => id === root.id) ?? root, ...replies.sort((a, b) => seqOf(a) - seqOf(b) || 0)];
}

const LINK = /(https?:\/\/[^\s<>"]*[^\s<>".,:;!?)\]}'])/;

/** Text and links, in turn: every second part is a link. */
export const withLinks = (text: string): readonly string[] => text.split(LINK);
