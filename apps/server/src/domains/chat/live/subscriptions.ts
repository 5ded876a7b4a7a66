import {
  type ChatClientFrames,
  type ChatServerFrames,
  fail,
  type Limits,
  type ReplyTo,
  ServiceError,
} from '@parley/contract';
import type { ChatTokenCaller } from '../../../core/caller.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Cursors } from '../../../core/cursors.ts';
import type { Db } from '../../../core/db.ts';
import {
  type Connection,
  frameText,
  type Outlet,
  ReplyThen,
  type SocketFrame,
  type SocketSession,
} from '../../../core/socket.ts';
import { assertScope } from '../callers.ts';
import { cursorScope } from '../messages/history.ts';
import type { Admission } from '../moderation/admission.ts';
import type { Targets } from '../targets.ts';
import { type ChangeEntry, jsonOf, recordBytesMax } from './change.ts';
import type { Channel, Listener, MemberView } from './channel.ts';
import type { Hub } from './hub.ts';
import type { Stored } from './presence-sets.ts';

export interface ChatSession extends SocketSession {
  caller: ChatTokenCaller;
}

export type ChatConnection = Connection<ChatSession, ChatServerFrames>;
type SubscribeReply = ReplyTo<ChatClientFrames['subscribe']>;

/** One chat connection and what it listens to. */
export interface Client {
  connection: ChatConnection;
  /** By conversation id. */
  subscriptions: Map<string, Subscription>;
  status: 'ONLINE' | 'AWAY';
  messagesSent: number;
}

export interface Subscription extends Listener {
  /** Holds frames back until the answer is queued; then that of the connection. */
  outlet: Outlet;
  channel: Channel;
  /** What the client called it. */
  ref: string;
  isPresent: boolean;
  since: number;
  stored: Stored;
  /** When the user began to type here, and until when that holds. */
  typing: { startedAt: number; until: number } | null;
}

interface Wanted {
  ref: string;
  since?: number;
  epoch?: string;
  presence?: boolean;
}

interface SubscriptionDeps {
  db: Db;
  admission: Admission;
  hub: Hub;
  targets: Targets;
  cursors: Cursors;
  clock: Clock;
  limits: Limits;
  /** A user joined or left a conversation. */
  onEnter: (client: Client, subscription: Subscription) => void;
  onLeave: (client: Client, subscription: Subscription) => void;
}

export interface Subscriptions {
  subscribe(client: Client, wanted: readonly Wanted[]): Promise<ReplyThen<SubscribeReply>>;
  unsubscribe(client: Client, refs: readonly string[]): Promise<void>;
  /** Ends what a narrower token no longer allows. */
  narrow(client: Client): void;
  end(client: Client): void;
}

/** A conversation that the client may subscribe to, with the user's membership. */
interface Ready {
  wanted: Wanted;
  channel: Channel;
  view: MemberView;
  isRecovered: boolean;
}

/** What may be queued on a socket by a catch-up: half of what makes it a slow reader. */
const recoveredTotalMax = 512 * 1024;

/** Bytes that the conversations of one frame may still recover, together. */
interface Allowance {
  left: number;
}

export function createSubscriptions(deps: SubscriptionDeps): Subscriptions {
  const { targets, cursors, clock, limits, onEnter, onLeave } = deps;
  const prepareAll = createPreparation(deps);

  /** From here to the answer nothing is waited for: no change can slip between what is recovered and what is live. */
  function attach(
    client: Client,
    { wanted, channel, view, isRecovered }: Ready,
    allowance: Allowance,
  ): { answer: SubscribeReply['conversations'][number]; begin: () => void } {
    const { caller } = client.connection.session;
    const { conversationId, epoch, head } = channel;
    const now = channel.member(caller.userId) ?? view;
    const known = client.subscriptions.get(conversationId);
    assertMayAttach(client, channel, now, known);
    if (known) channel.remove(known);

    const held: SocketFrame[] = [];
    const subscription = newSubscription(client, channel, wanted, known, held);
    // The ring may have been cut while others were prepared.
    const isInMemory = isRecovered && (wanted.since ?? head) >= channel.tail;
    const missed = isInMemory ? channel.after(wanted.since ?? head) : [];
    const frames = recoveredFrames(channel, wanted.since ?? head, missed, clock.now(), allowance);
    if (known && !subscription.isPresent) absent(client, known);
    client.subscriptions.set(conversationId, subscription);
    channel.add(subscription);
    return {
      answer: {
        ref: wanted.ref,
        conversationId,
        change: head,
        epoch,
        latestCursor: cursors.write(cursorScope(caller, channel.uuid), [channel.lastPosition]),
        recovered: isInMemory && (missed.length === 0 || frames.length > 0),
        unreadCount: now.unread,
      },
      begin() {
        for (const frame of frames) client.connection.write(frame);
        subscription.outlet = client.connection.outlet;
        for (const frame of held) client.connection.write(frame);
        if (subscription.isPresent) onEnter(client, subscription);
      },
    };
  }

  function assertMayAttach(client: Client, { status }: Channel, { role }: MemberView, known?: Subscription): void {
    if (status === 'DELETED') fail('SVC_CONVERSATION_NOT_FOUND');
    if (role === null) fail('SVC_NOT_A_MEMBER');
    const isFull = client.subscriptions.size >= limits.CHAT_MAX_ROOM_SUBSCRIPTIONS;
    if (!known && isFull) fail('SVC_SUBSCRIPTION_LIMIT');
  }

  /** What comes before the answer is queued goes to `held`. */
  function newSubscription(
    client: Client,
    channel: Channel,
    { ref, presence }: Wanted,
    known: Subscription | undefined,
    held: SocketFrame[],
  ): Subscription {
    const { caller } = client.connection.session;
    const { conversationId } = channel;
    const subscription: Subscription = {
      channel,
      ref,
      userId: caller.userId,
      connectionId: client.connection.id,
      isPresent: presence !== false && caller.scopes.includes('chat:presence'),
      since: known?.since ?? clock.now(),
      stored: { seen: null },
      typing: known?.typing ?? null,
      outlet: { write: (frame) => void held.push(frame) },
      cut(reason) {
        if (client.subscriptions.get(conversationId) === subscription) drop(client, subscription);
        client.connection.send('unsubscribed', { conversationId, reason });
      },
    };
    return subscription;
  }

  /** By what the client called it when it subscribed, or by anything else that leads there. */
  async function subscriptionOf(client: Client, ref: string): Promise<Subscription | undefined> {
    const own = [...client.subscriptions.values()];
    const known = own.find((one) => [one.ref, one.channel.conversationId, one.channel.uuid].includes(ref));
    if (known || own.length === 0) return known;
    const target = await targets.find(client.connection.session.caller, ref).catch(ignoreRefusal);
    return target && client.subscriptions.get(target.publicId);
  }

  function drop(client: Client, subscription: Subscription): void {
    client.subscriptions.delete(subscription.channel.conversationId);
    subscription.channel.remove(subscription);
    absent(client, subscription);
  }

  function absent(client: Client, subscription: Subscription): void {
    if (!subscription.isPresent) return;
    subscription.isPresent = false;
    onLeave(client, subscription);
  }

  return {
    async subscribe(client, wanted) {
      const { session } = client.connection;
      assertScope(session.caller, 'chat:read');
      const prepared = await prepareAll(session, wanted);
      const allowance = { left: recoveredTotalMax - client.connection.queuedBytes };
      const begins: (() => void)[] = [];
      const conversations = prepared.map((outcome, at) => {
        const { ref } = wanted[at] ?? { ref: '' };
        try {
          if (outcome.status === 'rejected') throw outcome.reason;
          if (!client.connection.isOpen) fail('SVC_UNAUTHENTICATED');
          const { answer, begin } = attach(client, outcome.value, allowance);
          begins.push(begin);
          return answer;
        } catch (error) {
          return refusalOf(ref, error);
        }
      });
      return new ReplyThen({ conversations }, () => {
        for (const begin of begins) begin();
      });
    },

    async unsubscribe(client, refs) {
      const named = await Promise.all(refs.map((ref) => subscriptionOf(client, ref)));
      for (const subscription of new Set(named)) {
        if (subscription && client.subscriptions.get(subscription.channel.conversationId) === subscription) {
          drop(client, subscription);
        }
      }
    },

    narrow(client) {
      const { conversations, scopes } = client.connection.session.caller;
      for (const subscription of [...client.subscriptions.values()]) {
        const { conversationId } = subscription.channel;
        const isAllowed = scopes.includes('chat:read') && (conversations?.includes(conversationId) ?? true);
        if (!isAllowed) subscription.cut('REMOVED');
        else if (!scopes.includes('chat:presence')) absent(client, subscription);
      }
    },

    end(client) {
      for (const subscription of [...client.subscriptions.values()]) drop(client, subscription);
    },
  };
}

/** What comes before a subscription: its conversation is opened, and what was missed is within reach. */
function createPreparation({ db, admission, hub, targets }: SubscriptionDeps) {
  /** Everything that has to be waited for. From memory where the conversation is open here and the gap is recent. */
  async function prepare({ caller }: ChatSession, wanted: Wanted): Promise<Ready> {
    const channel = await openChannel(caller, wanted.ref);
    const view = await hub.memberOf(channel, caller.userId);
    if (view.role === null) await admission.failAsNonMember(db, caller, channel.conversationId, caller.userId);
    const { since, epoch = channel.epoch } = wanted;
    const isRecovered = since !== undefined && epoch === channel.epoch && (await hub.reach(channel, since));
    return { wanted, channel, view, isRecovered };
  }

  /** Where the reference leads now: one that has moved is looked up once more. */
  async function openChannel(caller: ChatTokenCaller, ref: string): Promise<Channel> {
    for (let attempt = 1; ; attempt++) {
      const target = await targets.find(caller, ref);
      const channel = await hub.open(target.id);
      if (channel && (target.name ?? channel.name) === channel.name) return channel;
      targets.forget(caller, ref);
      if (!target.canMove || attempt > 1) fail('SVC_CONVERSATION_NOT_FOUND');
    }
  }

  /** All of them; again when one was evicted, or its members forgotten, while others were waited for. */
  async function prepareAll(session: ChatSession, wanted: readonly Wanted[]): Promise<PromiseSettledResult<Ready>[]> {
    const outcomes = await Promise.allSettled(wanted.map((one) => prepare(session, one)));
    const isLost = ({ channel }: Ready): boolean => !hub.isOpen(channel) || !channel.member(session.caller.userId);
    const ready = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []));
    return ready.some(isLost) ? prepareAll(session, wanted) : outcomes;
  }

  return prepareAll;
}

/** What was missed, in as many frames as are allowed. The rest is the client's to page. */
function recoveredFrames(
  { conversationId }: Channel,
  since: number,
  missed: readonly ChangeEntry[],
  ts: number,
  allowance: Allowance,
): SocketFrame[] {
  const batches: { texts: string[]; from: number; to: number }[] = [];
  let [at, from] = [0, since];
  while (at < missed.length) {
    const { texts, bytes } = batchFrom(missed, at);
    if (bytes > allowance.left) break;
    allowance.left -= bytes;
    at += texts.length;
    const to = missed[at - 1]?.change ?? from;
    batches.push({ texts, from, to });
    from = to;
  }
  const isCut = at < missed.length;
  return batches.map(({ texts, from, to }, place) => {
    const isComplete = !(isCut && place === batches.length - 1);
    return frameText(
      `{"type":"recovered","conversationId":"${conversationId}","from":${from},"to":${to},` +
        `"changes":[${texts.join(',')}],"complete":${isComplete},"ts":${ts}}`,
    );
  });
}

/** As many changes from this place on as fit one frame, at least one. */
function batchFrom(missed: readonly ChangeEntry[], start: number): { texts: string[]; bytes: number } {
  const texts: string[] = [];
  let bytes = 0;
  for (let at = start; at < missed.length; at++) {
    const text = jsonOf(missed[at] as ChangeEntry);
    const size = Buffer.byteLength(text) + 1;
    if (texts.length > 0 && bytes + size > recordBytesMax) break;
    texts.push(text);
    bytes += size;
  }
  return { texts, bytes };
}

/** Refusals are said item by item; a fault of ours fails the frame. */
function refusalOf(ref: string, error: unknown) {
  if (!(error instanceof ServiceError)) throw error;
  return { ref, code: error.code.slice('SVC_'.length), svcCode: error.code };
}

/** There is nothing to end where there is no conversation. */
function ignoreRefusal(error: unknown): undefined {
  if (!(error instanceof ServiceError)) throw error;
}
