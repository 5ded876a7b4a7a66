-- All messages of a user that are to be deleted, up to when it was asked for. `place` is the last conversation that is done.
create table chat_deletions (
  id text primary key,
  project_id uuid not null references projects (id),
  environment text not null check (environment in ('DEVELOPMENT', 'PRODUCTION')),
  user_id text not null,
  -- Null: in all conversations.
  conversation_id text,
  status text not null check (status in ('RUNNING', 'DONE')),
  deleted bigint not null default 0,
  place uuid,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index chat_deletions_running on chat_deletions (created_at) where status = 'RUNNING';
create index chat_deletions_of_environment on chat_deletions (project_id, environment) where status = 'RUNNING';
create index chat_deletions_finished on chat_deletions (finished_at) where status = 'DONE';
