import type { InboxBadge, InboxEntry } from '@parley/contract';
import fc from 'fast-check';

export const PEOPLE = ['ada', 'ben', 'cy'] as const;
export type Person = (typeof PEOPLE)[number];
export const ROOMS = 3;

type Common = { room: number; by: Person };
/** One step of somebody in one conversation; `at` picks a message of those there were. */
export type InboxStep = Common &
  (
    | { does: 'send'; mentions: Person | 'all' | null }
    | { does: 'read' | 'delete' | 'edit' | 'unread'; at: number }
    | { does: 'unreadLast' | 'mute' | 'unmute' | 'pin' | 'unpin' | 'hide' | 'show' | 'leave' | 'join' }
    | { does: 'retire'; at: number }
    | { does: 'block' | 'unblock'; whom: Person }
  );

const common = { room: fc.nat(ROOMS - 1), by: fc.constantFrom(...PEOPLE) };
const at = fc.nat(20);
const onMessage = fc.record({
  ...common,
  does: fc.constantFrom('read' as const, 'delete' as const, 'edit' as const, 'unread' as const),
  at,
});
const onEntry = fc.record({
  ...common,
  does: fc.constantFrom(
    ...(['unreadLast', 'mute', 'unmute', 'pin', 'unpin', 'hide', 'show', 'leave', 'join'] as const),
  ),
});

export const inboxStep: fc.Arbitrary<InboxStep> = fc.oneof(
  {
    arbitrary: fc.record({
      ...common,
      does: fc.constant('send' as const),
      mentions: fc.oneof(
        { arbitrary: fc.constant(null), weight: 2 },
        fc.constant('all' as const),
        fc.constantFrom(...PEOPLE),
      ),
    }),
    weight: 8,
  },
  { arbitrary: onMessage, weight: 8 },
  { arbitrary: onEntry, weight: 6 },
  {
    arbitrary: fc.record({
      ...common,
      does: fc.constantFrom('block' as const, 'block' as const, 'unblock' as const),
      whom: fc.constantFrom(...PEOPLE),
    }),
    weight: 3,
  },
  { arbitrary: fc.record({ ...common, does: fc.constant('retire' as const), at }), weight: 1 },
);

interface ModelMessage {
  id: string;
  sender: Person;
  mentions: Person | 'all' | null;
  at: string;
  isDeleted: boolean;
  isRetired: boolean;
}

interface Membership {
  isActive: boolean;
  /** How many messages are read; of a conversation they are all of the first ones. */
  read: number;
  isMuted: boolean;
  isPinned: boolean;
  /** How many messages there were when it was hidden. */
  hidden: number | null;
}

interface Room {
  id: string;
  createdAt: string;
  messages: ModelMessage[];
  members: Map<Person, Membership>;
}

/** What is compared of an entry. */
export interface ShownEntry {
  id: string;
  unread: number;
  mentions: number;
  isMuted: boolean;
  isPinned: boolean;
  lastActivityAt: string;
  lastMessage: { id: string; isDeleted: boolean } | null;
}

export const shownOf = (entry: InboxEntry): ShownEntry => ({
  id: entry.conversation.id,
  unread: entry.unreadCount,
  mentions: entry.unreadMentions,
  isMuted: entry.muted,
  isPinned: entry.pinned,
  lastActivityAt: entry.lastActivityAt,
  lastMessage: entry.lastMessage && { id: entry.lastMessage.id, isDeleted: entry.lastMessage.deleted },
});

/** Inboxes as the guide describes them: lists that are counted, with nothing in it of how the service does it. */
export class InboxModel {
  readonly rooms: Room[];
  /** Whom each has blocked, wherever they meet. */
  readonly #blocked = new Map<Person, Set<Person>>(PEOPLE.map((person) => [person, new Set()]));

  constructor(rooms: readonly { id: string; createdAt: string }[]) {
    this.rooms = rooms.map((room) => ({
      ...room,
      messages: [],
      members: new Map(
        PEOPLE.map((person) => [person, { isActive: true, read: 0, isMuted: false, isPinned: false, hidden: null }]),
      ),
    }));
  }

  member({ room, by }: Common): Membership {
    const membership = this.rooms[room]?.members.get(by);
    if (!membership) throw new Error('nobody of the cast');
    return membership;
  }

  /** The message that a step is about; undefined when there is none that it can be about. */
  aim({ room, does, at }: InboxStep & { at: number }): (ModelMessage & { place: number }) | undefined {
    const messages = this.rooms[room]?.messages ?? [];
    const place = at % Math.max(messages.length, 1);
    const message = messages[place];
    if (!message || message.isRetired || (message.isDeleted && does !== 'read')) return undefined;
    return { ...message, place };
  }

  sent({ room, by }: Common, message: { id: string; at: string; mentions: ModelMessage['mentions'] }): void {
    const messages = this.rooms[room]?.messages ?? [];
    messages.push({ ...message, sender: by, isDeleted: false, isRetired: false });
    this.member({ room, by }).read = messages.length;
  }

  /** The effect of every step but sending. */
  apply(step: Exclude<InboxStep, { does: 'send' }>): void {
    const member = this.member(step);
    const messages = this.rooms[step.room]?.messages ?? [];
    if (step.does === 'join') {
      if (!member.isActive) Object.assign(member, { isActive: true, hidden: null });
      return;
    }
    if ('whom' in step) return;
    if ('at' in step) this.#applyToMessage(step, member, messages);
    else if (step.does === 'unreadLast') {
      const last = messages.findLastIndex(({ isDeleted, isRetired }) => !isDeleted && !isRetired);
      if (last >= 0) member.read = Math.min(member.read, last);
    } else if (step.does === 'mute' || step.does === 'unmute') member.isMuted = step.does === 'mute';
    else if (step.does === 'pin' || step.does === 'unpin') member.isPinned = step.does === 'pin';
    else if (step.does === 'leave') member.isActive = false;
    else member.hidden = step.does === 'hide' ? messages.length : null;
  }

  /** Of people, not of a conversation. */
  block({ by, does, whom }: InboxStep & { whom: Person }): void {
    if (does === 'block') this.#blocked.get(by)?.add(whom);
    else this.#blocked.get(by)?.delete(whom);
  }

  isNews(person: Person, sender: Person): boolean {
    return !this.#blocked.get(person)?.has(sender);
  }

  #applyToMessage(step: InboxStep & { at: number }, member: Membership, messages: ModelMessage[]): void {
    const { place } = this.aim(step) ?? {};
    const message = place === undefined ? undefined : messages[place];
    if (place === undefined || !message) return;
    if (step.does === 'read') member.read = Math.max(member.read, place + 1);
    if (step.does === 'unread') member.read = Math.min(member.read, place);
    if (step.does === 'delete') message.isDeleted = true;
    if (step.does === 'retire') for (const old of messages.slice(0, place + 1)) old.isRetired = true;
  }

  entries(person: Person): ShownEntry[] {
    return this.rooms.flatMap((room) => {
      const member = room.members.get(person);
      if (!member?.isActive || (member.hidden !== null && room.messages.length <= member.hidden)) return [];
      const there = room.messages.filter(({ isRetired }) => !isRetired);
      const unread = room.messages
        .slice(member.read)
        .filter(({ isRetired, isDeleted, sender }) => !isRetired && !isDeleted && this.isNews(person, sender));
      const last = there.at(-1);
      return {
        id: room.id,
        unread: unread.length,
        mentions: unread.filter(({ sender, mentions }) => sender !== person && [person, 'all'].includes(mentions ?? ''))
          .length,
        isMuted: member.isMuted,
        isPinned: member.isPinned,
        lastActivityAt: last?.at ?? room.createdAt,
        lastMessage: last ? { id: last.id, isDeleted: last.isDeleted } : null,
      };
    });
  }

  badge(person: Person): InboxBadge {
    const counted = this.entries(person).filter(({ isMuted, unread }) => !isMuted && unread > 0);
    return {
      unreadConversations: counted.length,
      unreadMessages: counted.reduce((sum, { unread }) => sum + unread, 0),
      unreadMentions: counted.reduce((sum, { mentions }) => sum + mentions, 0),
    };
  }
}
