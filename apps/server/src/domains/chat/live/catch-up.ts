import type { Clock } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { Log } from '../../../core/log.ts';
import { readChanges } from '../messages/history-store.ts';
import { type ChangeEntry, entriesOfJson } from './change.ts';
import { type Channel, recentMax } from './channel.ts';
import { findNews } from './channel-store.ts';
import type { Channels } from './channels.ts';

interface CatchUpDeps {
  db: Db;
  clock: Clock;
  log: Log;
  channels: Channels;
}

/** A change that is late by more than this is fetched. */
const patienceMs = 200;
const pageMax = 500;
const reachMin = 200;

/** Reads from the store what a channel has missed, or needs from before it was opened. */
export function createCatchUp({ db, clock, log, channels }: CatchUpDeps) {
  const stopping = new AbortController();
  const filling = new WeakSet<Channel>();
  const reaching = new WeakMap<Channel, Promise<void>>();

  /** Everything after `head`. */
  async function fill(channel: Channel): Promise<void> {
    for (;;) {
      const since = channel.head;
      const row = await readChanges(db, channel.uuid, null, { since, limit: pageMax });
      if (!row) return;
      const now = clock.now();
      const upTo = row.hasMore ? (row.newest ?? since) : row.lastChange;
      channel.fill(entriesOfJson(row.text, now), upTo, now);
      if (!row.hasMore) return;
    }
  }

  /** Gives a missing change the time to arrive, then fetches it. */
  async function fillAfter(waitMs: number, channel: Channel): Promise<void> {
    if (filling.has(channel)) return;
    filling.add(channel);
    await clock.sleep(waitMs, stopping.signal);
    await fill(channel).catch((error) => log.warn({ error, conversationId: channel.conversationId }, 'gap not filled'));
    filling.delete(channel);
  }

  /** Puts what came before `tail` into memory, as far back as `since` and at least a little. */
  async function readOlder(channel: Channel, since: number): Promise<void> {
    const { tail } = channel;
    const start = Math.max(0, Math.min(since, tail - reachMin));
    const older: ChangeEntry[] = [];
    for (let from = start; from < tail; ) {
      const row = await readChanges(db, channel.uuid, null, { since: from, limit: pageMax });
      older.push(...entriesOfJson(row?.text ?? '[]', clock.now()));
      from = row?.hasMore ? (row.newest ?? tail) : tail;
    }
    // `tail` may have advanced during the read: then it is read again.
    if (channel.tail !== tail) return;
    channel.prepend(
      older.filter(({ change }) => change <= tail),
      start,
    );
  }

  /** One read serves all clients that reconnect at once. */
  function readOlderOnce(channel: Channel, since: number): Promise<void> {
    const running = reaching.get(channel);
    if (running) return running;
    const started = readOlder(channel, since).finally(() => reaching.delete(channel));
    reaching.set(channel, started);
    return started;
  }

  return {
    fillSoon: (channel: Channel): void => void fillAfter(patienceMs, channel),
    fillNow: (channel: Channel): void => void fillAfter(0, channel),
    /** Makes the changes after `since` available in memory; false when they are too many. */
    async reach(channel: Channel, since: number): Promise<boolean> {
      // A client of a process that is ahead has seen changes that have not arrived here yet.
      if (since > channel.head) await fill(channel);
      while (channels.isOpen(channel) && since < channel.tail && channel.head - since <= recentMax) {
        await readOlderOnce(channel, since);
      }
      return since >= channel.tail && since <= channel.head;
    },
    /** Looks into the store for changes that no message announced. */
    async catchUp(): Promise<void> {
      const known = channels.all();
      if (known.length === 0) return;
      for (const { uuid, lastChange, isSilent } of await findNews(db, known)) {
        const channel = channels.find(uuid);
        channel?.setSilent(isSilent);
        if (channel && channel.head < lastChange) await fill(channel);
      }
    },
    stop: (): void => stopping.abort(),
  };
}
