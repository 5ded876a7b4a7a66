-- People who sign in to the dashboard.
create table users (
  id uuid primary key,
  email text not null,
  name text,
  password_hash text,
  email_verified_at timestamptz,
  is_operator boolean not null default false,
  created_at timestamptz not null
);
create unique index users_email on users (lower(email));

create table projects (
  id uuid primary key,
  name text not null,
  slug text not null,
  status text not null default 'ACTIVE' check (status in ('ACTIVE', 'ARCHIVED')),
  allowed_origins jsonb not null default '[]',
  allow_localhost_origins boolean not null default true,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  archived_at timestamptz
);

-- A member, or an invitation to an address that has no account yet (user_id null until it registers).
create table project_members (
  project_id uuid not null references projects (id),
  email text not null,
  user_id uuid references users (id),
  role text not null check (role in ('OWNER', 'ADMIN', 'DEVELOPER', 'VIEWER')),
  added_at timestamptz not null
);
create unique index project_members_email on project_members (project_id, lower(email));
create unique index project_members_user on project_members (project_id, user_id) where user_id is not null;
create index project_members_of_user on project_members (user_id) where user_id is not null;

create table api_keys (
  id uuid primary key,
  public_id text not null constraint api_keys_public_id unique,
  project_id uuid not null references projects (id),
  environment text not null check (environment in ('DEVELOPMENT', 'PRODUCTION')),
  name text not null,
  secret_hash bytea not null,
  created_by uuid references users (id),
  created_by_email text,
  created_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_of_project on api_keys (project_id, created_at desc, id);

create table audit_entries (
  id text primary key,
  project_id uuid not null references projects (id),
  environment text,
  actor_id uuid not null,
  actor_email text not null,
  action text not null,
  resource_type text not null,
  resource_id text not null,
  metadata jsonb not null default '{}',
  request_id text not null,
  ip_address text not null,
  user_agent text,
  created_at timestamptz not null
);
create index audit_entries_of_project on audit_entries (project_id, created_at desc, id desc);

-- Append-only: nobody changes or removes what was recorded, not even our own code.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit entries cannot be changed or removed';
end $$;
create trigger audit_entries_append_only before update or delete on audit_entries
  for each row execute function refuse_audit_change();
create trigger audit_entries_no_truncate before truncate on audit_entries
  for each statement execute function refuse_audit_change();

-- Answers kept for a repeat of the same Idempotency-Key. `answer` is sealed: it may hold a credential.
create table idempotency_keys (
  scope text primary key,
  body_hash text not null,
  status integer,
  answer text,
  locked_until timestamptz not null,
  expires_at timestamptz not null
);
create index idempotency_keys_expiry on idempotency_keys (expires_at);

-- The outbox: facts recorded in the transaction that made them true.
create table events (
  id text primary key,
  project_id uuid not null,
  environment text not null,
  type text not null,
  topic text,
  data jsonb not null,
  created_at timestamptz not null,
  dispatched_at timestamptz
);
create index events_undispatched on events (created_at) where dispatched_at is null;
create index events_of_project on events (project_id, environment, created_at, id);
