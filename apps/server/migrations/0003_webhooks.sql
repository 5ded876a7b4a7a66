-- Where a project's events are sent. Secrets and headers are sealed under a key outside the database.
create table webhooks (
  id text primary key,
  project_id uuid not null references projects (id),
  environment text not null check (environment in ('DEVELOPMENT', 'PRODUCTION')),
  url text not null,
  -- Types it receives; empty for all, those added later too.
  events text[] not null,
  description text,
  headers_sealed text,
  header_names text[] not null,
  secret_sealed text not null,
  secret_hint text not null,
  previous_secret_sealed text,
  previous_secret_expires_at timestamptz,
  status text not null default 'ENABLED' check (status in ('ENABLED', 'DISABLED', 'AUTO_DISABLED')),
  consecutive_failures integer not null default 0,
  last_delivery_at timestamptz,
  last_error text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  disabled_at timestamptz
);
create index webhooks_of_project on webhooks (project_id, environment, id desc);

-- The queue and its history in one. `due_at` of an open row is its next attempt; a worker that claims the row moves it
-- to when the attempt after that would be due, so that nothing has to notice a worker that dies.
-- No reference to webhooks: it would lock the endpoint's row on every insert. A row whose endpoint is gone is never due.
create table deliveries (
  webhook_id text not null,
  id text not null,
  project_id uuid not null,
  event_id text not null,
  event_type text not null,
  -- The whole body of a made-up event; all others are built from their event.
  test_body text,
  status text not null default 'PENDING'
    check (status in ('PENDING', 'RETRYING', 'DELIVERED', 'FAILED', 'CANCELLED')),
  attempts smallint not null default 0,
  due_at timestamptz not null,
  attempt_log jsonb not null default '[]',
  created_at timestamptz not null,
  delivered_at timestamptz,
  failed_at timestamptz,
  -- Ids begin with their time: this is also the order of the listing.
  primary key (webhook_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);
create index deliveries_due on deliveries (webhook_id, due_at) where status in ('PENDING', 'RETRYING');
create index deliveries_age on deliveries using brin (created_at);
-- For the removal of what is too old to be asked for.
create index events_age on events using brin (created_at);
