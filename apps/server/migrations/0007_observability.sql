-- One attempt of a client to be in a room, and what became of it.
create table connections (
  id uuid primary key,
  project_id uuid not null references projects (id),
  environment text not null,
  connection_id text not null,
  room_id text not null,
  room_name text,
  participant_identity text not null,
  token_id text,
  state text not null default 'CONNECTING',
  server_name text,
  region text,
  client_ip text,
  user_agent text,
  sdk_name text,
  sdk_version text,
  transport text,
  started_at timestamptz not null,
  connected_at timestamptz,
  ended_at timestamptz,
  disconnect_reason text,
  reconnect_count integer not null default 0,
  rtt_ms double precision,
  packet_loss_percent double precision,
  jitter_ms double precision,
  mos double precision,
  error_count integer not null default 0,
  -- Once the server itself has seen it, what the client says of joining and leaving moves nothing.
  is_server_seen boolean not null default false,
  last_event_at timestamptz not null
);
-- The id is the client's own: it is bound to the room and identity of whoever used it first.
create unique index connections_client_id on connections (project_id, environment, connection_id);
create index connections_newest on connections (project_id, environment, started_at desc, id desc);
create index connections_by_room on connections (project_id, environment, room_id, started_at desc);
create index connections_by_state on connections (project_id, environment, state, started_at desc);
create index connections_live on connections (last_event_at) where state in ('CONNECTING', 'CONNECTED', 'RECONNECTING');
create index connections_age on connections (started_at);

create table connection_events (
  id text primary key,
  connection uuid not null references connections (id) on delete cascade,
  type text not null,
  source text not null,
  timestamp timestamptz not null,
  received_at timestamptz not null,
  data jsonb not null default '{}'
);
create index connection_events_timeline on connection_events (connection, received_at, id);

-- The same code on the same connection is one error that is counted.
create table classified_errors (
  id text primary key,
  project_id uuid not null references projects (id),
  environment text not null,
  connection uuid not null references connections (id) on delete cascade,
  category text not null,
  code text not null,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  count integer not null default 1,
  context jsonb not null default '{}'
);
create unique index classified_errors_once on classified_errors (connection, code);
create index classified_errors_newest on classified_errors (project_id, environment, occurred_at desc, id desc);
create index classified_errors_by_category on classified_errors (project_id, environment, category, occurred_at desc);

-- Counters by minute and by hour: charts and totals read these, never the connections themselves.
create table connection_rollups (
  project_id uuid not null,
  environment text not null,
  grain text not null check (grain in ('minute', 'hour')),
  at timestamptz not null,
  metric text not null,
  value double precision not null,
  primary key (project_id, environment, grain, at, metric)
);
create index connection_rollups_age on connection_rollups (grain, at);

-- Sessions whose seconds stand in usage_days: each is added once, in the statement that puts it here.
create table metered_sessions (
  session_id text primary key,
  metered_at timestamptz not null
);

create table usage_days (
  project_id uuid not null references projects (id),
  environment text not null,
  day date not null,
  seconds double precision not null,
  sessions integer not null,
  primary key (project_id, environment, day)
);
