import type { WebhookDedupe } from '@parley/server';

/** `pool.query` of pg, or the like. */
type Query = (text: string, values: string[]) => Promise<{ rows: { is_handled: boolean }[] }>;

export const table = `
  create table if not exists webhook_events (
    id text primary key, claimed_at timestamptz not null, is_handled boolean not null default false
  )`;

/** A claim whose process died is free again after a minute. */
const claim = `
  insert into webhook_events (id, claimed_at) values ($1, now())
  on conflict (id) do update set claimed_at = now()
    where not webhook_events.is_handled and webhook_events.claimed_at < now() - interval '1 minute'
  returning is_handled`;

export const databaseDedupe = (query: Query): WebhookDedupe => ({
  async claim(id) {
    if ((await query(claim, [id])).rows.length > 0) return true;
    const { rows } = await query('select is_handled from webhook_events where id = $1', [id]);
    return rows[0]?.is_handled ? false : 'busy';
  },
  async complete(id) {
    await query('update webhook_events set is_handled = true where id = $1', [id]);
  },
  async release(id) {
    await query('delete from webhook_events where id = $1 and not is_handled', [id]);
  },
});
