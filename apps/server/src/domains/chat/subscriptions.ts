import { fail, type Limits, ServiceError } from '@parley/contract';
import type { ChatTokenCaller } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import type { Cursors } from '../../core/cursors.ts';
import { type Connection, frameText, ReplyThen, type SocketFrame, type SocketSession } from '../../core/socket.ts';
import { assertListed, assertScope } from './callers.ts';
import { type ChangeEntry, type Channel, jsonOf, type Listener, type MemberView } from './channel.ts';
import { cursorScope } from './history.ts';
import type { Hub } from './hub.ts';
import type { Targets } from './targets.ts';

export interface ChatSession extends SocketSession {
  caller: ChatTokenCaller;
}

/** One chat connection and what it listens to. */
export interface Client {
  connection: Connection<ChatSession>;
  /** By conversation id. */
  subscriptions: Map<string, Subscription>;
  status: 'ONLINE' | 'AWAY';
  messagesSent: number;
  /** Which of the refreshes of presence is its own. */
  presenceTurn: number;
}

export interface Subscription extends Listener {
  channel: Channel;
  /** What the client called it. */
  ref: string;
  isPresent: boolean;
  since: number;
  /** When the user began to type here, and until when that holds. */
  typing: { startedAt: number; until: number } | null;
}

export interface Wanted {
  ref: string;
  since?: number;
  epoch?: string;
  presence?: boolean;
}

export interface SubscriptionDeps {
  hub: Hub;
  targets: Targets;
  cursors: Cursors;
  clock: Clock;
  limits: Limits;
  /** Somebody is in a conversation from now on, or not any more. */
  onEnter: (client: Client, subscription: Subscription) => void;
  onLeave: (client: Client, subscription: Subscription) => void;
}

export interface Subscriptions {
  subscribe(client: Client, wanted: readonly Wanted[]): Promise<ReplyThen>;
  unsubscribe(client: Client, refs: readonly string[]): void;
  /** Ends what a narrower token no longer allows. */
  narrow(client: Client): void;
  end(client: Client): void;
}

/** A conversation that the client may hear, with the user's place in it. */
interface Ready {
  wanted: Wanted;
  channel: Channel;
  view: MemberView;
  isRecovered: boolean;
}

/** A frame of missed changes stays well under the 65536 bytes of a frame, and all of them under the slow reader's limit. */
const recoveredFrameMax = 60_000;
const recoveredTotalMax = 512 * 1024;

export function createSubscriptions(deps: SubscriptionDeps): Subscriptions {
  const { hub, targets, cursors, clock, limits, onEnter, onLeave } = deps;

  /** Everything that has to be waited for. From memory where the conversation is open here and the gap is recent. */
  async function prepare({ caller }: ChatSession, wanted: Wanted): Promise<Ready> {
    const target = await targets.find(caller, wanted.ref);
    assertListed(caller, target.publicId);
    const channel = (await hub.open(target.id)) ?? fail('SVC_CONVERSATION_NOT_FOUND');
    const view = await hub.memberOf(channel, caller.userId);
    if (view.role === null) fail('SVC_NOT_A_MEMBER');
    const { since, epoch = channel.epoch } = wanted;
    const isRecovered = since !== undefined && epoch === channel.epoch && (await hub.reach(channel, since));
    return { wanted, channel, view, isRecovered };
  }

  /** From here to the answer nothing is waited for: no change can slip between what is recovered and what is live. */
  function attach(client: Client, ready: Ready): { answer: object; begin: () => void } {
    const { wanted, channel, view } = ready;
    const { caller } = client.connection.session;
    const now = channel.member(caller.userId) ?? view;
    if (now.role === null) fail('SVC_NOT_A_MEMBER');
    const { conversationId, epoch, head } = channel;
    const known = client.subscriptions.get(conversationId);
    if (!known && client.subscriptions.size >= limits.CHAT_MAX_ROOM_SUBSCRIPTIONS) fail('SVC_SUBSCRIPTION_LIMIT');
    if (known) channel.remove(known);

    const held: SocketFrame[] = [];
    let isHeld = true;
    const subscription: Subscription = {
      channel,
      ref: wanted.ref,
      userId: caller.userId,
      isPresent: wanted.presence !== false && caller.scopes.includes('chat:presence'),
      since: known?.since ?? clock.now(),
      typing: known?.typing ?? null,
      hear: (frame) => (isHeld ? void held.push(frame) : client.connection.write(frame)),
      cut(reason) {
        if (client.subscriptions.get(conversationId) === subscription) drop(client, subscription);
        client.connection.send('unsubscribed', { conversationId, reason });
      },
    };
    // The ring may have been cut while others were prepared.
    const isRecovered = ready.isRecovered && (wanted.since ?? head) >= channel.tail;
    const missed = isRecovered ? channel.after(wanted.since ?? head) : [];
    client.subscriptions.set(conversationId, subscription);
    channel.add(subscription);
    return {
      answer: {
        ref: wanted.ref,
        conversationId,
        change: head,
        epoch,
        latestCursor: cursors.write(cursorScope(caller, channel.uuid), [channel.lastPosition]),
        recovered: isRecovered,
        unreadCount: now.unread,
      },
      begin() {
        for (const frame of recoveredFrames(channel, wanted.since ?? head, missed, clock.now())) {
          client.connection.write(frame);
        }
        isHeld = false;
        for (const frame of held) client.connection.write(frame);
        if (subscription.isPresent) onEnter(client, subscription);
      },
    };
  }

  function drop(client: Client, subscription: Subscription): void {
    client.subscriptions.delete(subscription.channel.conversationId);
    subscription.channel.remove(subscription);
    if (subscription.isPresent) onLeave(client, subscription);
  }

  return {
    async subscribe(client, wanted) {
      const { session } = client.connection;
      assertScope(session.caller, 'chat:read');
      const prepared = await Promise.allSettled(wanted.map((one) => prepare(session, one)));
      const begins: (() => void)[] = [];
      const conversations = prepared.map((outcome, at) => {
        const { ref } = wanted[at] ?? { ref: '' };
        try {
          if (outcome.status === 'rejected') throw outcome.reason;
          if (!client.connection.isOpen) fail('SVC_UNAUTHENTICATED');
          const { answer, begin } = attach(client, outcome.value);
          begins.push(begin);
          return answer;
        } catch (error) {
          // Refusals are said item by item; a fault of ours fails the frame.
          if (!(error instanceof ServiceError)) throw error;
          return { ref, code: error.code.slice('SVC_'.length), svcCode: error.code };
        }
      });
      return new ReplyThen({ conversations }, () => {
        for (const begin of begins) begin();
      });
    },

    unsubscribe(client, refs) {
      for (const subscription of [...client.subscriptions.values()]) {
        const { ref, channel } = subscription;
        if ([ref, channel.conversationId, channel.uuid].some((name) => refs.includes(name))) drop(client, subscription);
      }
    },

    narrow(client) {
      const { conversations, scopes } = client.connection.session.caller;
      for (const subscription of [...client.subscriptions.values()]) {
        const { conversationId } = subscription.channel;
        const isAllowed = scopes.includes('chat:read') && (conversations?.includes(conversationId) ?? true);
        if (!isAllowed) subscription.cut('REMOVED');
      }
    },

    end(client) {
      for (const subscription of [...client.subscriptions.values()]) drop(client, subscription);
    },
  };
}

/** What was missed, in as many frames as it needs. The rest of a very long gap is the client's to page. */
function recoveredFrames(
  { conversationId }: Channel,
  since: number,
  missed: readonly ChangeEntry[],
  ts: number,
): SocketFrame[] {
  const frames: SocketFrame[] = [];
  let [from, total, size] = [since, 0, 0];
  let batch: string[] = [];

  function flush(to: number, isComplete: boolean): void {
    if (batch.length === 0) return;
    frames.push(
      frameText(
        `{"type":"recovered","conversationId":"${conversationId}","from":${from},"to":${to},` +
          `"changes":[${batch.join(',')}],"complete":${isComplete},"ts":${ts}}`,
      ),
    );
    [from, total, size, batch] = [to, total + size, 0, []];
  }

  for (const [at, entry] of missed.entries()) {
    const text = jsonOf(entry);
    const bytes = Buffer.byteLength(text);
    if (size + bytes > recoveredFrameMax) flush(missed[at - 1]?.change ?? from, total + size <= recoveredTotalMax);
    if (total > recoveredTotalMax) return frames;
    batch.push(text);
    size += bytes + 1;
  }
  flush(missed.at(-1)?.change ?? from, true);
  return frames;
}
