import type { LinkPolicy, ModerationSettings, WordList } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable } from '../../../core/db.ts';
import { json, sql } from '../../../core/sql.ts';

/** What there is of moderation in an environment: mostly nothing. */
interface EnvironmentRow {
  hasSanctions: boolean;
  /** In some conversation, or everywhere. */
  hasShadows: boolean;
  /** Of its rules; null without any. */
  revision: string | null;
}

export async function findEnvironment(
  db: Queryable,
  { projectId, environment }: ProjectScope,
): Promise<EnvironmentRow> {
  const [row] = await db.query<EnvironmentRow>(sql`
    select exists (
        select from chat_sanctions s
        where s.project_id = ${projectId} and s.environment = ${environment} and s.place = '') as "hasSanctions",
      exists (
        select from chat_sanctions s
        where s.project_id = ${projectId} and s.environment = ${environment} and s.kind = 'SHADOW') as "hasShadows",
      (select m.revision from chat_moderation m
        where m.project_id = ${projectId} and m.environment = ${environment}) as revision`);
  return row ?? { hasSanctions: false, hasShadows: false, revision: null };
}

export interface StoredSettings extends ModerationSettings {
  revision: string;
  linkPreviews: boolean;
}

const columns = sql`revision, word_lists as "wordLists", links, updated_at as "updatedAt", link_previews as "linkPreviews"`;

export async function findSettings(
  db: Queryable,
  { projectId, environment }: ProjectScope,
): Promise<StoredSettings | undefined> {
  const [row] = await db.query<StoredSettings>(sql`
    select ${columns} from chat_moderation where project_id = ${projectId} and environment = ${environment}`);
  return row;
}

export async function upsertSettings(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  draft: { revision: string; wordLists: readonly WordList[]; links: LinkPolicy; at: string },
): Promise<StoredSettings> {
  const { revision, wordLists, links, at } = draft;
  const [row] = await db.query<StoredSettings>(sql`
    insert into chat_moderation (project_id, environment, revision, word_lists, links, updated_at)
    values (${projectId}, ${environment}, ${revision}, ${json(wordLists)}, ${links}, ${at})
    on conflict (project_id, environment) do update set
      revision = excluded.revision, word_lists = excluded.word_lists, links = excluded.links,
      updated_at = excluded.updated_at
    returning ${columns}`);
  return row as StoredSettings;
}

export async function setLinkPreviews(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  { isOn, revision, at }: { isOn: boolean; revision: string; at: string },
): Promise<void> {
  await db.execute(sql`
    insert into chat_moderation (project_id, environment, revision, link_previews, updated_at)
    values (${projectId}, ${environment}, ${revision}, ${isOn}, ${at})
    on conflict (project_id, environment) do update set
      revision = excluded.revision, link_previews = excluded.link_previews`);
}
