import type { Clock } from '../../../core/clock.ts';
import type { Db, Tx } from '../../../core/db.ts';
import { type Turn, withoutDeadline } from '../../../core/delete-in-batches.ts';
import {
  countPending,
  findWaiting,
  type IndexedMessage,
  isAnyWaiting,
  type MessageKey,
  readMessages,
  removeTerms,
  type Terms,
  takeBacklog,
  takePending,
  writeTerms,
} from './index-store.ts';
import { skewMs, termsOfMessage } from './index-terms.ts';

/** Messages of one transaction: the embedded database does nothing else meanwhile. */
const batchMax = 250;

/**
 * So many wait for their terms while sends wait for the database. A search reads the text of each, so they are few where
 * people search; where nobody does, a long peak is indexed after it.
 */
const yieldingMax = { searched: 5_000, unsearched: 200_000 };

/** Above the bound so many are taken before they are counted again: counting reads all that wait. */
const surplusMax = 5_000;

interface IndexerDeps {
  db: Db;
  clock: Clock;
  sends: { isCrowded(): boolean };
  search: { isUsed(): boolean };
}

const nameOf = ({ conversationUuid, position }: MessageKey): string => `${conversationUuid} ${position}`;

/** Writes the terms of messages, behind those who send them. */
export function createIndexer({ db, clock, sends, search }: IndexerDeps) {
  let [bound, surplus] = [0, 0];
  /** A caller that waits for a database that does one thing at a time waits for every batch. */
  const isAlone = db.dialect === 'embedded';

  function termsOf(message: IndexedMessage, text: string): Terms {
    const { conversationUuid, position, createdAt } = message;
    // A message from a clock that is far ahead is found where searches begin.
    const at = Math.min(Date.parse(createdAt), clock.now() + skewMs);
    return { conversationUuid, position, createdAt, terms: termsOfMessage(text, { ...message, at }).join(' ') };
  }

  async function write(tx: Tx, messages: readonly IndexedMessage[]): Promise<Terms[]> {
    const written = messages.flatMap((message) => (message.text ? [termsOf(message, message.text)] : []));
    await writeTerms(tx, written);
    return written;
  }

  /** What has no terms now may have had some: it was deleted, or has lost its text. */
  async function index(tx: Tx, keys: ReadonlyMap<string, MessageKey>): Promise<void> {
    const written = await write(tx, await readMessages(tx, [...keys.values()]));
    const kept = new Set(written.map(nameOf));
    await removeTerms(
      tx,
      [...keys.values()].filter((key) => !kept.has(nameOf(key))),
    );
  }

  const indexPending = (): Promise<number> =>
    db.transaction(async (tx) => {
      const keys = await takePending(tx, batchMax);
      if (keys.length > 0) await index(tx, new Map(keys.map((key) => [nameOf(key), key])));
      return keys.length;
    });

  const indexBacklog = (): Promise<number | null> =>
    db.transaction(async (tx) => {
      const messages = await takeBacklog(tx, batchMax);
      if (messages) await write(tx, messages);
      return messages === null ? null : messages.length;
    });

  /** To the sends of this process: those of others are not seen, nor are their searches. */
  async function isYielding(): Promise<boolean> {
    if (!sends.isCrowded()) return false;
    const max = search.isUsed() ? yieldingMax.searched : yieldingMax.unsearched;
    if (surplus <= 0 || max !== bound) [bound, surplus] = [max, (await countPending(db, max + surplusMax)) - max];
    const isWithin = surplus < 0;
    surplus -= batchMax;
    return isWithin;
  }

  /**
   * What is new first; then, while the turn lasts, what was there before there was an index. What comes meanwhile waits
   * for the next turn: many small transactions cost a multiple of one. One batch a turn where it is in the way of sends.
   */
  async function run(turn: Turn = withoutDeadline): Promise<number> {
    let total = 0;
    for (;;) {
      const waiting = await findWaiting(db);
      const isYielded = waiting.pending && (await isYielding());
      const taken = waiting.pending && !isYielded ? await indexPending() : 0;
      total += taken;
      if (turn.isOver() || (isAlone && taken > 0 && sends.isCrowded())) return total;
      if (taken === batchMax) continue;
      const before = waiting.backlog ? await indexBacklog() : null;
      if (before === null) return total;
      total += before;
      // Of what was there before, one batch a turn: it would never end where sends always wait.
      if (turn.isOver() || isYielded) return total;
    }
  }

  return { run, isDue: () => isAnyWaiting };
}
