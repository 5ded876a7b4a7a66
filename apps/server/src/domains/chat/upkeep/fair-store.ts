import { raw, type Sql, sql } from '../../../core/sql.ts';

/** Rows that are looked at: more than wait at a time, unless somebody floods. */
const lookedAtMax = 1_000;

/**
 * The next of a queue that all projects share: first those of the environment of which the least waits, and there of
 * the user. Who has much there waits for it, and nobody else does. `due` gives id, conversation_id, owner and at, the
 * oldest first.
 */
export const fairly = (due: Sql, limit: number): Sql => sql`
  select w.id from (
    select d.id, d.at, count(*) over (partition by c.project_id, c.environment) as of_environment,
      count(*) over (partition by c.project_id, c.environment, d.owner) as of_owner
    from (${due} limit ${raw(String(lookedAtMax))}) d
    cross join lateral (select project_id, environment from conversations where id = d.conversation_id limit 1) c) w
  order by w.of_environment, w.of_owner, w.at limit ${limit}`;
