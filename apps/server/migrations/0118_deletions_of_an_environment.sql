-- concurrently: deletions may be asked for meanwhile.
-- The dashboard lists them (ADR 0222).
create index concurrently if not exists chat_deletions_listed
  on chat_deletions (project_id, environment, created_at desc, id desc);
