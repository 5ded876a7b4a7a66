-- Messages whose conversation is still to be looked through for members with devices.
create table push_jobs (
  event_id text primary key,
  project_id uuid not null,
  environment text not null,
  -- Members up to this one have been looked at.
  after_user text not null default '',
  attempts integer not null default 0,
  due_at timestamptz not null,
  claimed_until timestamptz
);
create index push_jobs_due on push_jobs (project_id, environment, due_at);

-- At most one of a device and a conversation: a newer message takes the place of one that waits. Never with content.
create table push_deliveries (
  device_id text not null references push_devices (id) on delete cascade,
  conversation_id uuid not null,
  -- What is slow together: the push service of an environment.
  lane text not null,
  position bigint not null,
  mentioned boolean not null,
  attempts integer not null default 0,
  -- Counts messages, so that one which came during an attempt is not taken for the one that was sent.
  version integer not null default 0,
  due_at timestamptz not null,
  claimed_until timestamptz,
  primary key (device_id, conversation_id)
) with (fillfactor = 80);
create index push_deliveries_due on push_deliveries (lane, due_at);
