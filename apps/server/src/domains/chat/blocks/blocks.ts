import { type BlocksQuery, type ChatBlock, type chatBlockRoutes, fail, type Limits } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../../core/cursors.ts';
import type { Db, Tx } from '../../../core/db.ts';
import { type Answer, type Handlers, page, recorded } from '../../../core/handlers.ts';
import type { Log } from '../../../core/log.ts';
import type { Bus, Unsubscribe } from '../../../core/ports.ts';
import { failQuota } from '../../../core/quotas.ts';
import type { Emit, UnitOfWork } from '../../../core/unit-of-work.ts';
import { refuse } from '../../../core/validation.ts';
import { assertScope, type ChatCaller, subjectOf } from '../callers.ts';
import type { Devices } from '../drafts/devices.ts';
import { topicOf } from '../live/change.ts';
import type { Hub } from '../live/hub.ts';
import type { PresenceOf } from '../live/presence.ts';
import { assertUserId } from '../moderation/user-ids.ts';
import {
  deleteBlock,
  findBlock,
  findConcerned,
  findSilenced,
  insertBlock,
  listBlocks,
  lockBlocker,
  lockDirect,
} from './block-store.ts';

interface BlockDeps {
  db: Db;
  bus: Bus;
  clock: Clock;
  cursors: Cursors;
  limits: Limits;
  log: Log;
  unitOfWork: UnitOfWork;
  hub: Hub;
  presence: Pick<PresenceOf, 'setSilent'>;
  devices: Pick<Devices, 'each'>;
}

interface Pair {
  userId: string;
  blockedId: string;
}
/** What travels between processes. */
type Told = ProjectScope & Pair & { blocked: boolean };

type Blocks = ReturnType<typeof createBlocks>;

const topic = 'blocks';

/** Whom users want nothing of. What it does to messages and counts is asked for where those are stored and read. */
export function createBlocks(deps: BlockDeps) {
  const { db, bus, clock, cursors, limits, log, unitOfWork, hub, presence, devices } = deps;
  let stopListening: Unsubscribe = () => {};

  function pairOf(caller: ChatCaller, blockedId: string, named: string | undefined): Pair {
    assertScope(caller, 'chat:read_state');
    assertUserId(blockedId);
    const userId = subjectOf(caller, named);
    if (userId === blockedId)
      refuse([{ field: 'blockedId', rule: 'other', message: 'A user cannot block themselves.' }]);
    return { userId, blockedId };
  }

  /** Undefined when it was so before. */
  async function change(
    caller: ChatCaller,
    { userId, blockedId }: Pair,
    blocked: boolean,
    write: (tx: Tx, at: string) => Promise<ChatBlock | undefined>,
  ): Promise<ChatBlock | undefined> {
    const direct: { publicId: string; isSilent: boolean }[] = [];
    const block = await unitOfWork(caller, async (tx, emit) => {
      const at = iso(clock.now());
      await lockBlocker(tx, caller, userId, at);
      const both = await lockDirect(tx, caller, userId, blockedId);
      const changed = await write(tx, at);
      if (!changed) return undefined;
      const silenced = await findSilenced(
        tx,
        both.map(({ id }) => id),
      );
      direct.push(...both.map(({ id, publicId }) => ({ publicId, isSilent: silenced.has(id) })));
      const type = blocked ? 'user.blocked' : 'user.unblocked';
      const afterCommit = (): void => tell(caller, { userId, blockedId }, blocked);
      emit({ type, data: { block: changed }, afterCommit });
      // What is unread is another number there; found in the store, too, by who is not told.
      for (const publicId of await findConcerned(tx, caller, userId, blockedId))
        emitRecounted(emit, publicId, userId, at);
      return changed;
    });
    for (const { publicId, isSilent } of direct) logFailure(presence.setSilent(publicId, isSilent));
    return block;
  }

  function emitRecounted(emit: Emit, conversationId: string, userId: string, at: string): void {
    const afterCommit = (scope: ProjectScope): void => hub.changed(scope, conversationId, userId);
    emit({ type: 'inbox.updated', topic: topicOf(conversationId), data: { conversationId, userId, at }, afterCommit });
  }

  const logFailure = (work: Promise<unknown>): void =>
    void work.catch((error) => log.debug({ error }, 'presence not hushed'));

  function tell({ projectId, environment }: ProjectScope, { userId, blockedId }: Pair, blocked: boolean): void {
    bus.publish(topic, { projectId, environment, userId, blockedId, blocked } satisfies Told);
  }

  function heard({ userId, blockedId, blocked, ...scope }: Told): void {
    hub.forgetMember(userId);
    devices.each(scope, userId, (connection) => connection.send('block.updated', { userId, blockedId, blocked }));
  }

  async function add(caller: ChatCaller, blockedId: string, named?: string): Promise<Answer<ChatBlock>> {
    const pair = pairOf(caller, blockedId, named);
    const made = await change(caller, pair, true, async (tx, createdAt) => {
      if (await findBlock(tx, caller, pair.userId, blockedId)) return undefined;
      const max = limits.CHAT_MAX_BLOCKS;
      return (await insertBlock(tx, caller, { ...pair, createdAt }, max)) ?? failQuota('CHAT_MAX_BLOCKS', max);
    });
    const block = made ?? (await findBlock(db, caller, pair.userId, blockedId));
    // Lifted between the two looks: it was there when this came.
    if (!block) return fail('SVC_SERVICE_UNAVAILABLE', { retryAfterSeconds: 1 });
    return recorded(block, made ? subjectOfAudit(caller, pair) : null);
  }

  async function remove(caller: ChatCaller, blockedId: string, named?: string): Promise<Answer<undefined>> {
    const pair = pairOf(caller, blockedId, named);
    const gone = await change(caller, pair, false, (tx) => deleteBlock(tx, caller, pair.userId, blockedId));
    return recorded(undefined, gone ? subjectOfAudit(caller, pair) : null);
  }

  async function list(caller: ChatCaller, { limit = pageSizeDefault, cursor, userId: named }: BlocksQuery) {
    assertScope(caller, 'chat:read');
    const userId = subjectOf(caller, named);
    const name = `blocks/${caller.projectId}/${caller.environment}/${userId}`;
    const after = cursor === undefined ? null : (cursors.read(name, cursor) as [string, string]);
    const rows = await listBlocks(db, caller, { userId, after, limit: limit + 1 });
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(name, [last.createdAt, last.blockedId]));
    return page(items, nextCursor);
  }

  return {
    add,
    remove,
    list,
    async start(): Promise<void> {
      // Only our own processes publish here.
      stopListening = await bus.subscribe(topic, (message) => heard(message as Told));
    },
    stop: (): void => stopListening(),
  };
}

/** What a user does for themselves is theirs; what a backend does to users is on record. */
const subjectOfAudit = (caller: ChatCaller, { userId, blockedId }: Pair) =>
  caller.kind === 'chatToken' ? null : { resourceId: blockedId, environment: caller.environment, metadata: { userId } };

export const blockHandlers = (blocks: Blocks): Handlers<typeof chatBlockRoutes> => ({
  listBlocks: ({ caller, query }) => blocks.list(caller, query),
  blockUser: ({ caller, params, query }) => blocks.add(caller, params.blockedId, query.userId),
  unblockUser: ({ caller, params, query }) => blocks.remove(caller, params.blockedId, query.userId),
});
