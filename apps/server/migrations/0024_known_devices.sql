-- Browsers that a person has signed in with, by a hash of the cookie that each keeps: a sign-in with another one is mailed.
create table known_devices (
  user_id uuid not null references users (id),
  device_hash text not null,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  primary key (user_id, device_hash)
);
create index known_devices_seen on known_devices (seen_at);
