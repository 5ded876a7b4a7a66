import type { UsageMeterName } from '@parley/contract';
import type { Db, Tx } from '../../core/db.ts';
import { json, sql } from '../../core/sql.ts';

export interface StoredPrices {
  currency: string;
  /** Millionths of the currency, as text: an integer. */
  prices: Partial<Record<UsageMeterName, string>>;
}

export async function findPrices(db: Db, projectId: string): Promise<StoredPrices | undefined> {
  const [row] = await db.query<StoredPrices>(sql`
    select currency, prices from usage_prices where project_id = ${projectId}`);
  return row;
}

export async function upsertPrices(tx: Tx, projectId: string, given: StoredPrices, at: string): Promise<void> {
  await tx.execute(sql`
    insert into usage_prices (project_id, currency, prices, updated_at)
    values (${projectId}, ${given.currency}, ${json(given.prices)}::jsonb, ${at})
    on conflict (project_id) do update
      set currency = excluded.currency, prices = excluded.prices, updated_at = excluded.updated_at`);
}

export async function deletePrices(tx: Tx, projectId: string): Promise<void> {
  await tx.execute(sql`delete from usage_prices where project_id = ${projectId}`);
}
