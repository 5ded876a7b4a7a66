import type { AddressInfo } from 'node:net';
import { createPostgres } from '../../../apps/server/src/adapters/db/postgres/postgres.ts';
import type { Db } from '../../../apps/server/src/core/db.ts';
import { sql } from '../../../apps/server/src/core/sql.ts';
import type { ChatFleet } from '../../../apps/server/testkit/chat/fleet.ts';
import type { LogEntry } from '../../../apps/server/testkit/chat/history-checker.ts';
import { addWebhook } from '../../../apps/server/testkit/clients/webhooks.ts';
import { eventually } from '../../../apps/server/testkit/kit/eventually.ts';
import { type DeliveryPair, pairsOf, progressOf } from '../../../apps/server/testkit/proofs/delivery-pairs.ts';
import { type Seen, startCounting, verifyPairs } from '../../../apps/server/testkit/proofs/webhook-storm.ts';
import { backoffBaseMs } from './cluster.ts';
import type { WebhookTally } from './observation.ts';

/** How often the receiver refuses. */
const failureRate = 0.1;

/** A receiver of every message of the fleet, and afterwards what became of each. */
export async function startReceiving(fleet: ChatFleet, databaseUrl: string) {
  const name = 'all';
  const seen: Seen = new Map();
  const counts = { requests: 0, badSignatures: 0 };
  const secrets = new Map<string, string>();
  const server = await startCounting(name, { seen, counts, secrets, failureRate });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}`;
  const { id, secret } = await addWebhook(fleet.project, { url, events: ['message.created'] });
  secrets.set(name, secret);

  return {
    /** Events that were answered with a 2xx so far. */
    accepted: (): number => [...seen.values()].filter((arrivals) => arrivals.some(({ isGood }) => isGood)).length,
    /** Waits until nothing is in flight. */
    async tally(log: readonly LogEntry[]): Promise<WebhookTally> {
      if (databaseUrl === '') return unknown;
      const db = createPostgres({ url: databaseUrl });
      try {
        await drained(db);
        const created = await createdEvents(db);
        const known = new Set(created.map((event) => event.id));
        const pairs = (await allPairs(db, fleet.project.id)).filter(({ eventId }) => known.has(eventId));
        const { excess: _, ...counted } = verifyPairs(pairs, seen, new Map([[id, name]]), backoffBaseMs);
        return { ...counted, badSignatures: counts.badSignatures, unstable: countUnstable(created, log) };
      } finally {
        await db.close();
      }
    },
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Only the server can read an embedded database. */
const unknown = { delivered: 0, failed: 0, lost: 0, early: 0, mistold: 0, badSignatures: 0, unstable: 0 };

/** Gives up after a while: what is open then is lost, and counted as such. */
async function drained(db: Db): Promise<void> {
  const isDone = async (): Promise<boolean> => {
    const { undispatched, open } = await progressOf(db);
    return undispatched === 0 && open === 0;
  };
  await eventually(isDone, { withinMs: 90_000, everyMs: 250 }).catch(() => undefined);
}

async function allPairs(db: Db, projectId: string): Promise<DeliveryPair[]> {
  const pairs: DeliveryPair[] = [];
  for (let after = ''; ; after = pairs.at(-1)?.eventId ?? '') {
    const page = await pairsOf(db, projectId, { after, limit: 1_000 });
    if (page.length === 0) return pairs;
    pairs.push(...page);
  }
}

/** The event of each message. */
const createdEvents = (db: Db): Promise<{ id: string; key: string }[]> =>
  db.query(sql`
    select id, data::jsonb->'message'->>'clientMessageId' as key from events where type = 'message.created'`);

/** Acknowledged messages with no event, or with two. */
function countUnstable(events: readonly { key: string }[], log: readonly LogEntry[]): number {
  const byKey = Map.groupBy(events, ({ key }) => key);
  const acknowledged = new Set(log.flatMap((entry) => (entry.is === 'ok' ? [entry.key] : [])));
  return [...acknowledged].filter((key) => byKey.get(key)?.length !== 1).length;
}
