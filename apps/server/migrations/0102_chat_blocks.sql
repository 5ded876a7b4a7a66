-- Whom a user has blocked. Messages of the blocked are no news to the blocker, and a direct conversation of the two
-- takes none: both are asked for by the primary key.
create table chat_blocks (
  project_id uuid not null references projects (id),
  environment text not null check (environment in ('DEVELOPMENT', 'PRODUCTION')),
  user_id text not null,
  blocked_id text not null check (blocked_id <> user_id),
  created_at timestamptz not null,
  primary key (project_id, environment, user_id, blocked_id)
);
create index chat_blocks_listed on chat_blocks (project_id, environment, user_id, created_at desc, blocked_id desc);
-- For who is erased: others have blocked them, too. By the user first, so that no plan walks the blocks of an environment.
create index chat_blocks_of_blocked on chat_blocks (blocked_id, project_id, environment, user_id);

-- One row for each user who ever blocked somebody: its lock orders their changes, its time says to a device that was
-- away that what is unread is counted anew.
create table chat_blockers (
  project_id uuid not null references projects (id),
  environment text not null check (environment in ('DEVELOPMENT', 'PRODUCTION')),
  user_id text not null,
  changed_at timestamptz not null,
  primary key (project_id, environment, user_id)
);
