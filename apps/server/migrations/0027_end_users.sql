-- End users who were shut out, as the developer names them. Those who never were have no row.
create table end_users (
  project_id uuid not null references projects (id),
  environment text not null check (environment in ('DEVELOPMENT', 'PRODUCTION')),
  user_id text not null,
  -- Tokens issued until then are void.
  revoked_at timestamptz not null,
  banned_until timestamptz,
  reason text,
  primary key (project_id, environment, user_id)
);
create index end_users_revoked on end_users (revoked_at);
create index end_users_of_project on end_users (project_id, environment, revoked_at desc, user_id desc);
