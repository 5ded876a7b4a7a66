import type { ChatMemberRole, ConversationStatus } from '@parley/contract';
import type { Outlet, SocketFrame } from '../../../core/socket.ts';
import { type ChangeEntry, liveFrame } from './change.ts';
import type { ChannelRow } from './channel-store.ts';

/** A subscriber of a conversation. */
export interface Listener {
  readonly userId: string;
  readonly connectionId: string;
  /** Where its frames go. Read for each of them: it may be another one from now on. */
  readonly outlet: Outlet;
  /** The subscription is over without having been asked for. */
  cut(reason: 'REMOVED' | 'DELETED'): void;
}

/** A member as this process knows them, true as of a change. */
export interface MemberView {
  role: ChatMemberRole | null;
  readSeq: number;
  unread: number;
  asOf: number;
  /** Whose messages are no news to them. */
  blocked: readonly string[];
}

/** How far back a gap is answered from memory. */
export const recentMax = 1_000;
export const recentMs = 10 * 60_000;
/** A thousand long messages would take 64 MB of every process that has the conversation open. */
export const recentBytesMax = 4 * 1024 * 1024;

const bytesIn = (text: string | undefined): number => (text === undefined ? 0 : Buffer.byteLength(text));
const bytesOf = ({ body, message }: ChangeEntry): number => bytesIn(body) + bytesIn(message);

/**
 * One conversation in this process: who listens, the last changes in order, and what is known of its members. Changes
 * may come twice, late or out of order; listeners get each once and in order.
 */
export interface Channel {
  readonly conversationId: string;
  readonly uuid: string;
  readonly epoch: string;
  readonly name: string;
  readonly status: ConversationStatus;
  /** The last change that was emitted; all before it were too. */
  readonly head: number;
  /** Changes after this one are in memory. */
  readonly tail: number;
  readonly lastPosition: number;
  readonly listeners: ReadonlySet<Listener>;
  /** Takes a change. True when one before it is missing. */
  take(entry: ChangeEntry, now: number): boolean;
  /** Takes what the store has from `head` to `upTo`. True when something is missing even so. */
  fill(entries: readonly ChangeEntry[], upTo: number, now: number): boolean;
  /** Puts older changes, ending right before `tail`, in front. */
  prepend(entries: readonly ChangeEntry[], from: number): void;
  /** Changes after `since`; only for `since` from `tail` to `head`. */
  after(since: number): readonly ChangeEntry[];
  /** Emits what has no change number to all but one connection. */
  broadcast(frame: SocketFrame, except?: string, by?: string): void;
  /** While it is silent, what is not stored stays with who does it. */
  readonly isSilent: boolean;
  setSilent(isSilent: boolean): void;
  /** To all but the devices of this user. */
  broadcastExcept(frame: SocketFrame, of: string): void;
  add(listener: Listener): void;
  remove(listener: Listener): void;
  /** Brought up to `head`, or undefined when it must be read again. */
  member(userId: string): MemberView | undefined;
  setMember(userId: string, view: MemberView): void;
  /** Every member, or this one, must be read again. Reads in flight are discarded, too: `memory` is then another. */
  forgetMembers(userId?: string): void;
  readonly memory: number;
  noteRead(userId: string, seq: number): void;
  forget(now: number): void;
}

const bytesOfAll = (entries: readonly ChangeEntry[]): number =>
  entries.reduce((total, entry) => total + bytesOf(entry), 0);

export function createChannel(start: ChannelRow): Channel {
  const { conversationId, uuid, epoch } = start;
  let [head, tail, lastSeq, lastPosition] = [start.lastChange, start.lastChange, start.lastSeq, start.lastPosition];
  let recent: ChangeEntry[] = [];
  let bytes = 0;
  const ahead = new Map<number, ChangeEntry>();
  const listeners = new Set<Listener>();
  const members = new Map<string, MemberView>();
  let { status, name } = start;
  let memory = 0;
  let { isSilent } = start;

  function broadcast(frame: SocketFrame, except?: string, by?: string): void {
    const only = isSilent ? by : undefined;
    // Of each of thousands as little as possible is looked at: most of it is in no cache.
    if (only === undefined && except === undefined) {
      for (const { outlet } of listeners) outlet.write(frame);
      return;
    }
    for (const { userId, connectionId, outlet } of listeners) {
      if ((only === undefined || userId === only) && connectionId !== except) outlet.write(frame);
    }
  }

  function emitNext(entry: ChangeEntry, now: number): void {
    head = entry.change;
    // A new message has no older change that shows it.
    if (entry.type !== 'message') renew(entry);
    recent.push(entry);
    bytes += bytesOf(entry);
    // At twice the bound, so that it is not copied with every change.
    if (recent.length > 2 * recentMax || bytes > 2 * recentBytesMax) keepFrom(surplus());
    if (entry.type === 'message') {
      lastSeq = Math.max(lastSeq, entry.seq ?? 0);
      lastPosition = entry.change;
    }
    if (entry.type === 'conversation.deleted') {
      status = 'DELETED';
      cut(() => true, 'DELETED');
      return;
    }
    status = entry.status ?? status;
    name = entry.name ?? name;
    broadcast(liveFrame(entry, now));
    if (entry.type === 'member.removed') cut(({ userId }) => userId === entry.userId, 'REMOVED');
  }

  /** A client that recovers gets a message as it is now: what was deleted is not handed out from memory. */
  function renew({ messageId, message }: ChangeEntry): void {
    if (messageId === undefined || message === undefined) return;
    for (const older of recent) {
      if (older.messageId !== messageId) continue;
      bytes += bytesIn(message) - bytesIn(older.message);
      older.message = message;
    }
  }

  /** How many of the oldest are too many, or too long together. */
  function surplus(): number {
    let dropped = Math.max(0, recent.length - recentMax);
    for (let kept = bytesOfAll(recent.slice(dropped)); kept > recentBytesMax; dropped++)
      kept -= bytesOfAll(recent.slice(dropped, dropped + 1));
    return dropped;
  }

  function keepFrom(place: number): void {
    tail = recent[place - 1]?.change ?? tail;
    recent = recent.slice(place);
    bytes = bytesOfAll(recent);
  }

  function cut(matches: (listener: Listener) => boolean, reason: 'REMOVED' | 'DELETED'): void {
    for (const listener of [...listeners]) {
      if (!matches(listener)) continue;
      listeners.delete(listener);
      listener.cut(reason);
    }
  }

  function after(since: number): readonly ChangeEntry[] {
    // Numbers are dense but for what retention took away, so the place is near `since - tail`, never behind it.
    let at = Math.min(Math.max(0, since - tail), recent.length);
    while (at > 0 && (recent[at - 1]?.change ?? 0) > since) at--;
    return recent.slice(at);
  }

  function drain(now: number): boolean {
    for (let next = ahead.get(head + 1); next; next = ahead.get(head + 1)) {
      ahead.delete(next.change);
      emitNext(next, now);
    }
    return ahead.size > 0;
  }

  /** Changes since then to a member's role and unread count. */
  function advance(userId: string, view: MemberView): MemberView {
    let { role, readSeq, unread } = view;
    const { blocked } = view;
    for (const entry of after(view.asOf)) {
      const { type, seq = 0, senderId } = entry;
      if (type.startsWith('member.') && entry.userId === userId) role = entry.role ?? null;
      else if (type === 'message' && entry.senderId === userId) [readSeq, unread] = [seq, 0];
      else if (blocked.length > 0 && senderId && blocked.includes(senderId)) continue;
      else if (type === 'message' && seq > readSeq) unread++;
      else if (type === 'message.deleted' && seq > readSeq) unread--;
    }
    return { role, readSeq, unread: Math.max(0, unread), asOf: Math.max(head, view.asOf), blocked };
  }

  return {
    conversationId,
    uuid,
    epoch,
    listeners,
    get name() {
      return name;
    },
    get status() {
      return status;
    },
    get head() {
      return head;
    },
    get tail() {
      return tail;
    },
    get lastPosition() {
      return lastPosition;
    },
    get memory() {
      return memory;
    },
    take(entry, now) {
      if (entry.change > head) ahead.set(entry.change, entry);
      return drain(now);
    },
    fill(entries, upTo, now) {
      for (const entry of entries) if (entry.change > head) emitNext(entry, now);
      head = Math.max(head, upTo);
      for (const change of ahead.keys()) if (change <= head) ahead.delete(change);
      return drain(now);
    },
    prepend(entries, from) {
      recent = [...entries, ...recent];
      bytes += bytesOfAll(entries);
      tail = from;
    },
    after,
    broadcast,
    add: (listener) => void listeners.add(listener),
    remove: (listener) => void listeners.delete(listener),
    member(userId) {
      const view = members.get(userId);
      if (!view || view.asOf < tail) return undefined;
      const current = advance(userId, view);
      members.set(userId, current);
      return current;
    },
    setMember: (userId, view) => void members.set(userId, view),
    broadcastExcept(frame, of) {
      for (const listener of listeners) if (listener.userId !== of) listener.outlet.write(frame);
    },
    get isSilent() {
      return isSilent;
    },
    setSilent(silent) {
      isSilent = silent;
    },
    forgetMembers(userId) {
      memory++;
      if (userId === undefined) members.clear();
      else members.delete(userId);
    },
    noteRead(userId, seq) {
      const view = members.get(userId);
      if (!view || seq <= view.readSeq) return;
      // Read to the end is the usual case; anything else is the store's to count.
      if (seq >= lastSeq) members.set(userId, { ...view, readSeq: seq, unread: 0, asOf: head });
      else members.delete(userId);
    },
    forget(now) {
      let dropped = surplus();
      while ((recent[dropped]?.at ?? now) < now - recentMs) dropped++;
      if (dropped > 0) keepFrom(dropped);
    },
  };
}
