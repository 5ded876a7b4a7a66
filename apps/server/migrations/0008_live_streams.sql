create table live_streams (
  id text primary key,
  project_id uuid not null references projects (id),
  environment text not null check (environment in ('DEVELOPMENT', 'PRODUCTION')),
  title text not null,
  description text,
  thumbnail_url text,
  category text,
  tags jsonb not null default '[]',
  language text,
  visibility text not null default 'PUBLIC',
  status text not null default 'CREATED' check (status in ('CREATED', 'LIVE', 'ENDED')),
  metadata jsonb not null default '{}',
  host_identity text not null,
  room_id text not null references rooms (id),
  room_name text not null,
  conversation_id text not null,
  conversation_uuid uuid not null,
  peak_viewer_count integer not null default 0,
  scheduled_at timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  -- The room is closed and the conversation archived: a crash after the end leaves it false for the sweep.
  is_wound_up boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index live_streams_newest on live_streams (project_id, environment, created_at desc, id desc);
create index live_streams_open on live_streams (room_id) where status <> 'ENDED';
create index live_streams_to_wind_up on live_streams (ended_at) where status = 'ENDED' and not is_wound_up;

create table live_stream_hosts (
  stream_id text not null references live_streams (id),
  identity text not null,
  role text not null check (role in ('HOST', 'CO_HOST')),
  registered_at timestamptz not null,
  removed_at timestamptz,
  primary key (stream_id, identity)
);
create unique index live_stream_hosts_one_host on live_stream_hosts (stream_id) where role = 'HOST';
