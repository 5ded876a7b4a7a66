import type { ChatServerFrames, EventType, FrameFields, RecordedData } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { StoredEvent } from '../../../core/event-store.ts';
import type { Log } from '../../../core/log.ts';
import type { Bus, Unsubscribe } from '../../../core/ports.ts';
import { frameText } from '../../../core/socket.ts';
import type { Emit } from '../../../core/unit-of-work.ts';
import { createCatchUp } from './catch-up.ts';
import { type ChangeEntry, type ChangeSubject, entryOf, topicOf } from './change.ts';
import type { Channel, MemberView } from './channel.ts';
import { createChannels, type Envelope } from './channels.ts';
import { createMemberViews } from './member-views.ts';

/** Frames without a change number, which are not recovered. */
type EphemeralType = 'typing' | 'presence' | 'delivered';

interface HubDeps {
  db: Db;
  bus: Bus;
  clock: Clock;
  log: Log;
  /** Told of every conversation of which an inbox may show something else, or one member's inbox may. */
  noteInbox: (scope: ProjectScope, conversationId: string, userId?: string) => void;
}

/** Brings every change to all subscribers of this process, once and in order, whichever process made it. */
export interface Hub {
  /** The channel of a conversation, up to date from now on; null when there is no such conversation. */
  open(uuid: string): Promise<Channel | null>;
  /** False once it was parked or evicted: it gets no changes and must be opened again. */
  isOpen(channel: Channel): boolean;
  /** Where a user stands; from memory where it is known. */
  memberOf(channel: Channel, userId: string): Promise<MemberView>;
  /** Makes the changes after `since` available in memory; false when they are too many. */
  reach(channel: Channel, since: number): Promise<boolean>;
  /** A change right after its commit. */
  announce(entry: ChangeEntry): void;
  /** Emits the event of a numbered change, which is announced after the commit. */
  emitChange<T extends ChangeEventType>(emit: Emit, type: T, data: RecordedData<T> & ChangeSubject): void;
  /** Emits a moved read mark: no numbered change, but subscribers get it too. */
  emitRead(emit: Emit, data: RecordedData<'message.read'>): void;
  /** Something that is not stored: typing, presence. The connection `except` does not get it. */
  broadcast<K extends EphemeralType>(
    conversationId: string,
    type: K,
    fields: Omit<FrameFields<ChatServerFrames[K]>, 'conversationId'>,
    except?: string,
  ): void;
  /** For inboxes: this conversation changed, or what is one member's own in it. Told of by `emitChange` and `emitRead`, too. */
  changed(scope: ProjectScope, conversationId: string, userId?: string): void;
  /** Messages went without a change: cached unread counts are stale, on every process. */
  recount(conversationId: string): void;
  /** What is known of this user as a member is another by now, wherever they are one; on this process. */
  forgetMember(userId: string): void;
  /**
   * Whether what is not stored stays with who does it: the two of a direct conversation are out of touch. Each is told
   * how the other is to be seen from now on.
   */
  silence(conversationId: string, isSilent: boolean, seen: readonly FrameFields<ChatServerFrames['presence']>[]): void;
  /** Announces what a killed process recorded and perhaps did not announce. */
  recover(events: readonly StoredEvent[]): void;
  /** Looks into the store for changes that no message announced. */
  catchUp(): Promise<void>;
  parkIdle(): void;
  evictIdle(): void;
  start(): void;
  stop(): void;
}

/** Numbered changes whose event names what the frame shows. */
type ChangeEventType = Extract<
  EventType,
  | 'message.updated'
  | 'message.deleted'
  | 'member.added'
  | 'member.removed'
  | 'member.updated'
  | 'conversation.updated'
  | 'conversation.deleted'
>;

export function createHub({ db, bus, clock, log, noteInbox }: HubDeps): Hub {
  const channels = createChannels({ db, bus, clock, onMessage: receive });
  const catchUp = createCatchUp({ db, clock, log, channels });
  let stopListening: Unsubscribe = () => {};

  function receive(channel: Channel, message: Envelope): void {
    if ('entry' in message) {
      if (channel.take(message.entry, clock.now())) catchUp.fillSoon(channel);
    } else if ('upTo' in message) {
      if (channel.head < message.upTo) catchUp.fillNow(channel);
    } else if ('isRecount' in message) {
      channel.forgetMembers();
      if (message.isSilent === undefined) return;
      channel.setSilent(message.isSilent);
      for (const { of, frame } of message.lastFrames ?? []) channel.broadcastExcept(frameText(frame), of);
    } else if ('read' in message) {
      channel.noteRead(message.read.userId, message.read.seq);
      channel.broadcast(frameText(message.frame), undefined, message.read.userId);
    } else channel.broadcast(frameText(message.frame), message.except, message.by);
  }

  const publish = (conversationId: string, message: Envelope): void => bus.publish(topicOf(conversationId), message);

  const announce = (entry: ChangeEntry): void => publish(entry.conversationId, { entry });

  function announceRead({ conversationId, userId, messageId, seq, at }: RecordedData<'message.read'>): void {
    const frame = JSON.stringify({ type: 'read', conversationId, userId, messageId, seq, at, ts: clock.now() });
    publish(conversationId, { read: { userId, seq }, frame });
  }

  /** The bus has lost messages. Read marks have no change number: which of them were missed is unknown. */
  function onGap(): void {
    for (const channel of channels.all()) channel.forgetMembers();
    catchUp.catchUp().catch((error) => log.warn({ error }, 'catching up failed'));
  }

  return {
    open: channels.get,
    isOpen: channels.isOpen,
    memberOf: createMemberViews({ db }),
    reach: catchUp.reach,
    announce,
    emitChange(emit, type, data) {
      const { conversationId, change, message, member, conversation }: ChangeSubject = data;
      const shown = { ...(message && { message }), ...(member && { member }), ...(conversation && { conversation }) };
      const entry = entryOf({ type, conversationId, change, ...shown }, clock.now());
      const afterCommit = (scope: ProjectScope): void => {
        announce(entry);
        noteInbox(scope, conversationId);
        if (type === 'member.removed' && member) noteInbox(scope, conversationId, member.userId);
      };
      emit({ type, topic: topicOf(conversationId), data, afterCommit });
    },
    emitRead: (emit, data) =>
      emit({
        type: 'message.read',
        topic: topicOf(data.conversationId),
        data,
        afterCommit(scope) {
          announceRead(data);
          noteInbox(scope, data.conversationId, data.userId);
        },
      }),
    broadcast(conversationId, type, fields, except) {
      const frame = JSON.stringify({ type, conversationId, ...fields, ts: clock.now() });
      const by = 'userId' in fields && typeof fields.userId === 'string' ? { by: fields.userId } : {};
      publish(conversationId, { frame, ...by, ...(except === undefined ? {} : { except }) });
    },
    changed: noteInbox,
    recount: (conversationId) => publish(conversationId, { isRecount: true }),
    forgetMember(userId) {
      for (const channel of channels.all()) channel.forgetMembers(userId);
    },
    // Processes of the version before take it for a recount.
    silence(conversationId, isSilent, seen) {
      const lastFrames = seen.map((fields) => ({
        of: fields.userId,
        frame: JSON.stringify({ type: 'presence', ...fields, ts: clock.now() }),
      }));
      publish(conversationId, { isRecount: true, isSilent, lastFrames });
    },
    recover(events) {
      const upTo = new Map<string, number>();
      for (const event of events) {
        const { topic, type, data } = event;
        if (!topic?.startsWith(topicOf(''))) continue;
        noteInbox(event, topic.slice(topicOf('').length));
        if (typeof data['userId'] === 'string') noteInbox(event, topic.slice(topicOf('').length), data['userId']);
        // The event table says what this type carries.
        if (type === 'message.read') announceRead(data as RecordedData<'message.read'>);
        const { change } = data;
        if (typeof change === 'number') upTo.set(topic, Math.max(change, upTo.get(topic) ?? 0));
      }
      for (const [topic, change] of upTo) bus.publish(topic, { upTo: change } satisfies Envelope);
    },
    catchUp: catchUp.catchUp,
    parkIdle: channels.parkIdle,
    evictIdle: channels.evictIdle,
    start() {
      stopListening = bus.onGap(onGap);
    },
    stop() {
      catchUp.stop();
      stopListening();
      channels.evictAll();
    },
  };
}
