import { Readable } from 'node:stream';
import { fail } from '@parley/contract';
import type { ApiKeyCaller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import { Stream } from '../../core/handlers.ts';
import { assertMayAsk, checkEventTypes } from './endpoints.ts';
import { type FeedEvent, findEventTime, listEvents } from './event-feed-store.ts';
import { bodyOf } from './signing.ts';

interface EventFeedDeps {
  db: Db;
  clock: Clock;
  /** False once the key was revoked or its project archived. */
  isKeyActive: (publicId: string) => Promise<boolean>;
}

const pageSize = 200;
const lookEveryMs = 500;
const heartbeatMs = 15_000;
/** An event shows up in the store when its transaction ends: it may be this much older than one that was seen before. */
const lateMs = 10_000;
const streamsPerProjectMax = 20;

/** Events as they happen, for development: `parley listen`. What must not be missed is what webhooks are for. */
export function createEventFeed({ db, clock, isKeyActive }: EventFeedDeps) {
  /** One controller for each open stream, by project. */
  const open = new Map<string, Set<AbortController>>();

  async function* events(
    caller: ApiKeyCaller,
    types: readonly string[],
    sinceMs: number,
    leaving: AbortSignal,
  ): AsyncGenerator<string> {
    const seen = new Map<string, number>();
    let newestMs = sinceMs;
    let spokeMs = clock.elapsed();
    yield ': connected\n\n';
    while (!leaving.aborted && (await isKeyActive(caller.publicId))) {
      for await (const event of eventsFrom(caller, types, Math.max(sinceMs, newestMs - lateMs))) {
        if (seen.has(event.id)) continue;
        const atMs = Date.parse(event.createdAt);
        seen.set(event.id, atMs);
        newestMs = Math.max(newestMs, atMs);
        spokeMs = clock.elapsed();
        yield frameOf(event);
      }
      for (const [id, atMs] of seen) if (atMs < newestMs - lateMs) seen.delete(id);
      if (clock.elapsed() - spokeMs >= heartbeatMs) {
        spokeMs = clock.elapsed();
        yield ': still here\n\n';
      }
      await clock.sleep(lookEveryMs, leaving);
    }
  }

  async function* eventsFrom(
    caller: ApiKeyCaller,
    types: readonly string[],
    fromMs: number,
  ): AsyncGenerator<FeedEvent> {
    for (let after: FeedEvent | null = null; ; ) {
      const rows: FeedEvent[] = await listEvents(db, caller, { from: iso(fromMs), after, types, limit: pageSize });
      yield* rows;
      if (rows.length < pageSize) return;
      after = rows.at(-1) ?? null;
    }
  }

  function openStream(projectId: string, make: (leaving: AbortSignal) => AsyncGenerator<string>): Stream {
    const streams = open.get(projectId) ?? new Set();
    if (streams.size >= streamsPerProjectMax) return fail('SVC_RATE_LIMITED', { retryAfterSeconds: 5 });
    const leaving = new AbortController();
    open.set(projectId, streams.add(leaving));
    const source = make(leaving.signal);
    // Not Readable.from: its end waits for the generator, which waits for the next event.
    const content = new Readable({
      read() {
        source.next().then(
          ({ value, done }) => this.push(done ? null : value),
          (error) => this.destroy(error),
        );
      },
      destroy(error, done) {
        leaving.abort();
        streams.delete(leaving);
        if (streams.size === 0) open.delete(projectId);
        done(error);
      },
    });
    return new Stream(content, () => leaving.abort());
  }

  return {
    async stream(caller: ApiKeyCaller, filter: string | undefined, lastEventId: string | null): Promise<Stream> {
      const types = filter === undefined ? [] : checkEventTypes(filter.split(',').map((type) => type.trim()));
      // A key holds no permission of a person: what needs one is not streamed.
      assertMayAsk(() => false, types);
      const since = lastEventId === null ? iso(clock.now()) : await findEventTime(db, caller, lastEventId);
      if (since === undefined) return fail('SVC_INVALID_CURSOR');
      return openStream(caller.projectId, (leaving) => events(caller, types, Date.parse(since), leaving));
    },
    stop(): void {
      for (const streams of open.values()) for (const leaving of streams) leaving.abort();
    },
  };
}

const frameOf = (event: FeedEvent): string =>
  `id: ${event.id}\nevent: ${event.type}\ndata: ${bodyOf(event, event.data).toString()}\n\n`;
