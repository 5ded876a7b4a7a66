import type { HookFailure } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable } from '../../../core/db.ts';
import { raw, type Sql, sql } from '../../../core/sql.ts';

export interface StoredHook {
  url: string;
  timeoutMs: number;
  onFailure: HookFailure;
  secret: string;
  previousSecret: string | null;
  previousUntil: string | null;
}

/** An environment has two: asked before a message is stored, and before a file can be fetched. */
export type HookKind = 'hook' | 'scan';

const own = (kind: HookKind) => (column: string) => raw(`${kind}_${column}`);

const columnsOf = (kind: HookKind): Sql =>
  raw(`${kind}_url as url, ${kind}_timeout_ms as "timeoutMs", ${kind}_on_failure as "onFailure",
  ${kind}_secret as secret, ${kind}_previous_secret as "previousSecret", ${kind}_previous_until as "previousUntil"`);

const inScope = ({ projectId, environment }: ProjectScope) =>
  sql`project_id = ${projectId} and environment = ${environment}`;

export async function findHook(db: Queryable, kind: HookKind, scope: ProjectScope): Promise<StoredHook | undefined> {
  const [row] = await db.query<StoredHook>(sql`
    select ${columnsOf(kind)} from chat_moderation where ${inScope(scope)} and ${own(kind)('url')} is not null`);
  return row;
}

/** A hook that is there keeps its secret. */
export async function upsertHook(
  db: Queryable,
  kind: HookKind,
  { projectId, environment }: ProjectScope,
  hook: { url: string; timeoutMs: number; onFailure: HookFailure; secret: string; revision: string; at: string },
): Promise<StoredHook> {
  const at = own(kind);
  const [row] = await db.query<StoredHook>(sql`
    insert into chat_moderation as m (project_id, environment, revision, updated_at, ${at('url')}, ${at('timeout_ms')},
      ${at('on_failure')}, ${at('secret')})
    values (${projectId}, ${environment}, ${hook.revision}, ${hook.at}, ${hook.url}, ${hook.timeoutMs},
      ${hook.onFailure}, ${hook.secret})
    on conflict (project_id, environment) do update set
      revision = excluded.revision, ${at('url')} = excluded.${at('url')},
      ${at('timeout_ms')} = excluded.${at('timeout_ms')}, ${at('on_failure')} = excluded.${at('on_failure')},
      ${at('secret')} = coalesce(m.${at('secret')}, excluded.${at('secret')})
    returning ${columnsOf(kind)}`);
  return row as StoredHook;
}

export async function deleteHook(
  db: Queryable,
  kind: HookKind,
  scope: ProjectScope,
  revision: string,
): Promise<boolean> {
  const at = own(kind);
  const touched = await db.execute(sql`
    update chat_moderation set revision = ${revision}, ${at('url')} = null, ${at('timeout_ms')} = null,
      ${at('on_failure')} = null, ${at('secret')} = null, ${at('previous_secret')} = null,
      ${at('previous_until')} = null
    where ${inScope(scope)} and ${at('url')} is not null`);
  return touched === 1;
}

export async function rotateHookSecret(
  db: Queryable,
  kind: HookKind,
  scope: ProjectScope,
  { secret, previousUntil, revision }: { secret: string; previousUntil: string; revision: string },
): Promise<StoredHook | undefined> {
  const at = own(kind);
  const [row] = await db.query<StoredHook>(sql`
    update chat_moderation set revision = ${revision}, ${at('previous_secret')} = ${at('secret')},
      ${at('previous_until')} = ${previousUntil}, ${at('secret')} = ${secret}
    where ${inScope(scope)} and ${at('url')} is not null returning ${columnsOf(kind)}`);
  return row;
}

interface SealedHook extends ProjectScope {
  secret: string;
  previousSecret: string | null;
}

export async function listSealedHooks(db: Queryable, kind: HookKind): Promise<SealedHook[]> {
  const at = own(kind);
  return db.query<SealedHook>(sql`
    select project_id as "projectId", environment, ${at('secret')} as secret,
      ${at('previous_secret')} as "previousSecret"
    from chat_moderation where ${at('secret')} is not null`);
}

/** Unless it was rotated meanwhile. */
export async function replaceSealedHook(
  db: Queryable,
  kind: HookKind,
  old: SealedHook,
  fresh: SealedHook,
  revision: string,
): Promise<number> {
  const at = own(kind);
  return db.execute(sql`
    update chat_moderation set ${at('secret')} = ${fresh.secret}, ${at('previous_secret')} = ${fresh.previousSecret},
      revision = ${revision}
    where ${inScope(old)} and ${at('secret')} = ${old.secret}`);
}
