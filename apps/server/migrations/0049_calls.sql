-- A room session whose quality was measured, and what that came to.
create table calls (
  id text primary key,
  project_id uuid not null references projects (id),
  environment text not null,
  room_id text not null,
  room_name text,
  started_at timestamptz not null,
  last_at timestamptz not null,
  participant_count integer not null default 0,
  -- From 1 to 5; null while nothing was measured.
  score double precision,
  worst_score double precision
);
create index calls_newest on calls (project_id, environment, started_at desc, id desc);
create index calls_worst on calls (project_id, environment, worst_score, id);
create index calls_age on calls (last_at);

-- How one connection did in it: sums, so that each batch of samples only adds.
create table call_scores (
  connection uuid primary key references connections (id) on delete cascade,
  call_id text not null references calls (id) on delete cascade,
  sound_sum double precision not null default 0,
  sound_count integer not null default 0,
  picture_sum double precision not null default 0,
  picture_count integer not null default 0,
  -- The time that its samples account for, one after the other.
  sampled_until timestamptz not null,
  score double precision
);
create index call_scores_of_call on call_scores (call_id);

-- Samples of every 5 seconds as they came, several in a row: JSON by column, deflated.
create table call_samples (
  connection uuid not null references connections (id) on delete cascade,
  at timestamptz not null,
  packed bytea not null,
  primary key (connection, at)
);
create index call_samples_age on call_samples (at);

-- What media nodes said of themselves with each heartbeat.
create table node_samples (
  server_name text not null,
  at timestamptz not null,
  cpu_percent double precision,
  primary key (server_name, at)
);
create index node_samples_age on node_samples (at);
