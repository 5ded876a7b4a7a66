-- Where a user's notifications go. The address is useless without the environment's private keys, which are sealed.
create table push_devices (
  id text primary key,
  project_id uuid not null references projects (id),
  environment text not null,
  user_id text not null,
  kind text not null check (kind in ('WEB_PUSH', 'FCM', 'APNS')),
  -- Of endpoint or token: one device belongs to one user.
  address_hash text not null,
  address jsonb not null,
  hint text not null,
  -- Public ids that the token it was registered with was bounded to; null for all of the user's.
  conversations text[],
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint push_devices_address unique (project_id, environment, address_hash)
);
create index push_devices_of_user on push_devices (project_id, environment, user_id, updated_at desc);

create table push_settings (
  project_id uuid not null references projects (id),
  environment text not null,
  content text not null default 'NONE' check (content in ('NONE', 'PREVIEW')),
  level text not null default 'ALL' check (level in ('ALL', 'MENTIONS', 'OFF')),
  vapid_public text not null,
  vapid_sealed text not null,
  vapid_subject text,
  fcm_project text,
  fcm_email text,
  fcm_sealed text,
  apns_team text,
  apns_key_id text,
  apns_sealed text,
  updated_at timestamptz not null,
  primary key (project_id, environment)
);

create table push_preferences (
  project_id uuid not null references projects (id),
  environment text not null,
  user_id text not null,
  level text check (level in ('ALL', 'MENTIONS', 'OFF')),
  quiet_from text,
  quiet_until text,
  time_zone text,
  updated_at timestamptz not null,
  primary key (project_id, environment, user_id)
);
