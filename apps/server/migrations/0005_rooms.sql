-- Media nodes. OFFLINE and DRAINED are computed from seen_at and from the rooms that are placed.
create table media_servers (
  name text primary key,
  region text not null,
  public_host text not null,
  internal_url text not null,
  capacity integer,
  version text,
  is_draining boolean not null default false,
  drain_started_at timestamptz,
  active_rooms double precision,
  active_participants double precision,
  cpu_percent double precision,
  memory_percent double precision,
  network_in_bps double precision,
  network_out_bps double precision,
  created_at timestamptz not null,
  registered_at timestamptz not null,
  last_heartbeat_at timestamptz,
  -- Registration or heartbeat, whichever came last; and the last sign of the life before this registration.
  seen_at timestamptz not null,
  previous_seen_at timestamptz
);

-- Since when anybody of us has been there to receive heartbeats: silence before that proves nothing.
create table fleet_watch (
  is_only boolean primary key default true check (is_only),
  receiving_since timestamptz not null,
  checked_at timestamptz not null
);

-- Server processes, by whom the sessions of a killed one are found.
create table server_processes (
  id text primary key,
  started_at timestamptz not null,
  seen_at timestamptz not null
);

create table rooms (
  id text primary key,
  project_id uuid not null references projects (id),
  environment text not null check (environment in ('DEVELOPMENT', 'PRODUCTION')),
  name text not null,
  status text not null default 'ACTIVE' check (status in ('ACTIVE', 'CLOSED')),
  metadata jsonb not null default '{}',
  participants_max integer,
  duplicate_identity text not null default 'KICK_OLD' check (duplicate_identity in ('KICK_OLD', 'REJECT_NEW')),
  preferred_region text,
  -- Where it is placed while anybody is in it; the instance tells one life of a node from the next.
  server_name text references media_servers (name),
  server_instance text,
  -- Everybody who holds a place, also between admission and join: what the caps are checked against.
  member_count integer not null default 0 check (member_count >= 0),
  viewer_count integer not null default 0 check (viewer_count >= 0),
  event_seq bigint not null default 0,
  conversation_id text,
  live_stream_id text,
  active_session_id text,
  session_started_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  closed_at timestamptz,
  close_reason text
);
create unique index rooms_open_name on rooms (project_id, environment, name) where status = 'ACTIVE';
create index rooms_active on rooms (project_id, environment, created_at desc, id desc) where status = 'ACTIVE';
create index rooms_on_server on rooms (server_name) where server_name is not null;

create table rtc_tokens (
  id text primary key,
  project_id uuid not null references projects (id),
  environment text not null,
  room_id text not null references rooms (id),
  identity text not null,
  kind text not null default 'MEMBER' check (kind in ('MEMBER', 'VIEWER')),
  is_test boolean not null default false,
  permissions jsonb not null,
  metadata text,
  ttl_seconds integer not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index rtc_tokens_of_room on rtc_tokens (room_id, identity) where revoked_at is null;
create index rtc_tokens_expiry on rtc_tokens (expires_at);

-- One stay of one participant. Minutes are counted from joined_at to left_at; a row leaves the live set once.
create table participant_sessions (
  id text primary key,
  project_id uuid not null references projects (id),
  environment text not null,
  room_id text not null references rooms (id),
  room_session_id text not null,
  identity text not null,
  kind text not null check (kind in ('MEMBER', 'VIEWER')),
  is_test boolean not null default false,
  token_id text not null,
  connection_id text,
  permissions jsonb not null,
  metadata text,
  server_name text,
  server_instance text,
  region text,
  -- The server process that holds the socket; null signal_lost_at means that it is there.
  process_id text not null,
  signal_lost_at timestamptz,
  resume_hash bytea not null,
  is_publisher boolean not null default false,
  created_at timestamptz not null,
  joined_at timestamptz,
  left_at timestamptz,
  left_reason text,
  -- When the row left the live set; left_at may be earlier, where it became known late.
  ended_at timestamptz,
  check (left_at >= joined_at),
  check ((left_at is null) = (ended_at is null))
);
create unique index participant_sessions_identity on participant_sessions (room_id, identity) where left_at is null;
create index participant_sessions_lost on participant_sessions (signal_lost_at)
  where left_at is null and signal_lost_at is not null;
create index participant_sessions_of_process on participant_sessions (process_id) where left_at is null;
create index participant_sessions_ended on participant_sessions (process_id, ended_at) where ended_at is not null;
create index participant_sessions_of_token on participant_sessions (token_id) where left_at is null;
create index participant_sessions_of_room on participant_sessions (room_id, created_at desc, id desc);
create index participant_sessions_of_project on participant_sessions (project_id, environment, joined_at desc)
  where joined_at is not null;

-- What happened in a room lately, for whoever resumes or missed a message of the bus.
create table room_events (
  room_id text not null references rooms (id),
  seq bigint not null,
  type text not null,
  data jsonb not null,
  created_at timestamptz not null,
  primary key (room_id, seq)
);
create index room_events_age on room_events (created_at);
