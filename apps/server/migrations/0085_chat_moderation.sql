-- Who is banned or muted: in a conversation (`place` is its uuid), or in the whole environment (`place` is empty).
-- A ban takes the membership away; a mute is copied to it, where the statement that stores messages looks.
create table chat_sanctions (
  project_id uuid not null references projects (id),
  environment text not null check (environment in ('DEVELOPMENT', 'PRODUCTION')),
  place text not null,
  kind text not null check (kind in ('BAN', 'MUTE')),
  user_id text not null,
  -- Null: for good.
  until timestamptz,
  reason text,
  imposed_by text not null,
  created_at timestamptz not null,
  primary key (project_id, environment, place, kind, user_id)
);
create index chat_sanctions_listed on chat_sanctions
  (project_id, environment, place, kind, created_at desc, user_id desc);
create index chat_sanctions_of_place on chat_sanctions (place) where place <> '';
-- For the look of every process at who was banned lately, and for the sweep.
create index chat_sanctions_recent on chat_sanctions (created_at) where place = '';
create index chat_sanctions_over on chat_sanctions (until) where until is not null;

alter table conversation_members add column silenced_until timestamptz, add column last_sent_at timestamptz;
alter table conversations add column slow_mode_seconds integer not null default 0
  check (slow_mode_seconds between 0 and 21600);
