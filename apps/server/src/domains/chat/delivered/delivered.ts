import { fail, type MarkDelivered, type ReadReceipt, ServiceError } from '@parley/contract';
import { createBatcher } from '../../../core/batcher.ts';
import type { ChatTokenCaller } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import { assertScope, type ChatCaller, subjectOf } from '../callers.ts';
import type { Entries } from '../conversations/entries.ts';
import type { Hub } from '../live/hub.ts';
import type { Targets } from '../targets.ts';
import { type Delivery, findReceipt, type MovedDelivery, moveDeliveries } from './delivered-store.ts';

interface DeliveredDeps {
  db: Db;
  entries: Entries;
  targets: Targets;
  hub: Hub;
  clock: Clock;
}

export type Delivered = ReturnType<typeof createDelivered>;

const batchMax = 1_000;
const waitingMax = 100_000;
/** Receipts of a conversation within this time are one frame. */
const gatherMs = 200;
/** In larger ones receipts are kept and listed; a frame for each of a thousand devices would be most of the traffic. */
const toldMembersMax = 100;

/** How far messages have reached the devices of their readers. */
export function createDelivered({ db, entries, targets, hub, clock }: DeliveredDeps) {
  const batcher = createBatcher<Delivery, undefined>({ batchMax, waitingMax, gatherMs, write });

  async function write(deliveries: readonly Delivery[]): Promise<undefined> {
    const furthest = new Map<string, Delivery>();
    for (const one of deliveries) {
      const key = `${one.conversationUuid} ${one.userId}`;
      if ((furthest.get(key)?.seq ?? 0) < one.seq) furthest.set(key, one);
    }
    const at = iso(clock.now());
    const moved = await moveDeliveries(db, inOrder([...furthest.values()]), at);
    const told = moved.filter(({ memberCount }) => memberCount <= toldMembersMax);
    for (const [conversationId, some] of Map.groupBy(told, (one: MovedDelivery) => one.conversationId)) {
      const receipts = some.map(({ userId, seq }) => ({ userId, seq }));
      hub.broadcast(conversationId, 'delivered', { receipts, at });
    }
  }

  return {
    /** Of a socket: what the user may not see, or is not a member of, is left out. */
    async acknowledge(caller: ChatTokenCaller, given: readonly { ref: string; seq: number }[]): Promise<void> {
      assertScope(caller, 'chat:read_state');
      await Promise.all(
        given.map(async ({ ref, seq }) => {
          const target = await targets.find(caller, ref).catch(ignoreRefusal);
          if (target) await batcher.add({ conversationUuid: target.id, userId: caller.userId, seq });
        }),
      );
    },
    async mark(caller: ChatCaller, reference: string, { seq, userId: named }: MarkDelivered): Promise<ReadReceipt> {
      const userId = subjectOf(caller, named);
      const { id } = await entries.enter(caller, reference, { scope: 'chat:read_state', action: 'read' });
      await batcher.add({ conversationUuid: id, userId, seq });
      return (await findReceipt(db, id, userId)) ?? fail('SVC_NOT_A_MEMBER');
    },
  };
}

/** One order for all, so that two batches cannot deadlock. */
const inOrder = (deliveries: readonly Delivery[]): Delivery[] =>
  deliveries.toSorted((left, right) =>
    `${left.conversationUuid} ${left.userId}` < `${right.conversationUuid} ${right.userId}` ? -1 : 1,
  );

function ignoreRefusal(error: unknown): undefined {
  if (!(error instanceof ServiceError)) throw error;
}
