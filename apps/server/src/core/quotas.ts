import { fail, type LimitName, type Limits, limitRows } from '@parley/contract';
import type { ProjectScope } from './caller.ts';
import type { Tx } from './db.ts';
import { type Sql, sql } from './sql.ts';

/** How much of something there may be: counted in the transaction that makes it, exact however many do at once. */
export interface Quotas {
  /** Uses `amount` of the owner's quota, or SVC_QUOTA_EXCEEDED. Taken last: others of the owner wait for the commit. */
  take(tx: Tx, name: LimitName, owner: string, amount?: number): Promise<void>;
  giveBack(tx: Tx, name: LimitName, owner: string, amount?: number): Promise<void>;
  /** Nothing is counted for the owner any more: they are gone. Gives how many counts went. */
  forget(tx: Tx, name: LimitName, owner: string): Promise<number>;
}

export function createQuotas(limits: Limits): Quotas {
  return {
    async take(tx, name, owner, amount = 1) {
      const limit = limits[name];
      const [row] = await tx.query<{ used: number }>(sql`
        insert into quota_uses as q (name, owner, used) values (${name}, ${owner}, ${amount})
        on conflict (name, owner) do update set used = q.used + excluded.used
        returning used`);
      if ((row?.used ?? 0) > limit) failQuota(name, limit);
    },
    async giveBack(tx, name, owner, amount = 1) {
      await tx.execute(sql`
        update quota_uses set used = greatest(0, used - ${amount}) where name = ${name} and owner = ${owner}`);
    },
    forget: (tx, name, owner) => tx.execute(sql`delete from quota_uses where name = ${name} and owner = ${owner}`),
  };
}

/** The owner of what a project's environment has. */
export const ownerOf = ({ projectId, environment }: ProjectScope): string => `${projectId} ${environment}`;

export function failQuota(quota: LimitName, limit: number): never {
  const { bounds, unit } = limitRows[quota];
  return fail('SVC_QUOTA_EXCEEDED', {
    quota,
    limit,
    message: `${bounds}: the quota of ${limit} ${unit} is used up.`,
  });
}

/** For the rest of the transaction: what is counted under it is seen by the next that takes it. */
export const lockByName = (name: string): Sql => sql`select from pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
