create table alerts (
  id text primary key,
  project_id uuid not null references projects (id),
  environment text not null,
  name text not null,
  kind text not null,
  bound double precision,
  window_minutes integer,
  meter text,
  period text,
  target text,
  emails text[] not null default '{}',
  webhook boolean not null default true,
  state text not null default 'OK' check (state in ('OK', 'FIRING', 'SILENCED')),
  since timestamptz not null,
  silenced_until timestamptz,
  -- What holds, and what was told of it: they differ while it is silenced.
  is_breached boolean not null default false,
  is_told boolean not null default false,
  -- Evaluations in a row that found the opposite of is_breached.
  streak integer not null default 0,
  value double precision,
  detail text,
  evaluated_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index alerts_of_project on alerts (project_id, environment, id);

create table alert_changes (
  id bigint generated always as identity primary key,
  alert_id text not null references alerts (id) on delete cascade,
  at timestamptz not null,
  state text not null,
  value double precision,
  detail text,
  told boolean not null
);
create index alert_changes_of_alert on alert_changes (alert_id, id);
create index alert_changes_age on alert_changes (at);

-- Mails that are to be sent: stored with the change that they tell of, deleted when they have been sent.
create table alert_mails (
  id text primary key,
  alert_id text not null references alerts (id) on delete cascade,
  project_id uuid not null,
  email text not null,
  subject text not null,
  body text not null,
  created_at timestamptz not null,
  due_at timestamptz not null,
  attempts integer not null default 0
);
create index alert_mails_due on alert_mails (due_at);
