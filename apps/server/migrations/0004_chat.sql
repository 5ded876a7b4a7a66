create table conversations (
  id uuid primary key,
  public_id text not null constraint conversations_public_id unique,
  project_id uuid not null references projects (id),
  environment text not null check (environment in ('DEVELOPMENT', 'PRODUCTION')),
  name text not null,
  type text not null check (type in ('DIRECT', 'GROUP', 'CHANNEL', 'ROOM')),
  status text not null default 'ACTIVE' check (status in ('ACTIVE', 'ARCHIVED', 'DELETED')),
  room_id text,
  live_stream_id text,
  retention_days integer check (retention_days between 1 and 3650),
  metadata jsonb not null default '{}',
  -- Two dense counters: last_seq over messages, last_change over every visible change. Whoever takes a number holds
  -- this row's lock until commit, so their order is the order of commits.
  last_seq bigint not null default 0,
  last_change bigint not null default 0,
  -- Clients that remember another epoch reload: their numbers are of another history.
  epoch text not null,
  -- Messages up to here are gone for good (retention).
  retired_seq bigint not null default 0,
  member_count integer not null default 0,
  message_count integer not null default 0,
  reaction_count integer not null default 0,
  last_position bigint not null default 0,
  last_message_id text,
  last_message_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  archived_at timestamptz,
  deleted_at timestamptz
) with (fillfactor = 70);
create unique index conversations_name on conversations (project_id, environment, name) where status <> 'DELETED';
create unique index conversations_room on conversations (project_id, environment, room_id)
  where room_id is not null and status <> 'DELETED';
create index conversations_of_project on conversations (project_id, environment, created_at desc, id desc)
  where status <> 'DELETED';
create index conversations_deleted on conversations (deleted_at) where status = 'DELETED';

create table conversation_members (
  conversation_id uuid not null references conversations (id),
  user_id text not null,
  role text not null check (role in ('OWNER', 'ADMIN', 'MODERATOR', 'MEMBER', 'GUEST')),
  metadata jsonb not null default '{}',
  active boolean not null default true,
  joined_at timestamptz not null,
  removed_at timestamptz,
  last_read_seq bigint not null default 0,
  last_read_position bigint not null default 0,
  last_read_message_id text,
  last_read_at timestamptz,
  primary key (conversation_id, user_id)
) with (fillfactor = 80);
create index conversation_members_listed on conversation_members (conversation_id, joined_at desc, user_id desc)
  where active;
create index conversation_members_of_user on conversation_members (user_id) where active;

-- `position` is the change that created the message: it grows with `seq`, so one index serves history and changes.
create table messages (
  conversation_id uuid not null references conversations (id),
  position bigint not null,
  seq bigint not null,
  change bigint not null,
  id text not null constraint messages_id unique,
  type text not null check (type in ('text', 'attachment', 'custom', 'system', 'event')),
  text text,
  sender_id text,
  sender_role text,
  reply_to text,
  thread_root_id text,
  reply_count integer not null default 0,
  last_reply_at timestamptz,
  client_message_id text,
  attachment_id text,
  metadata jsonb not null default '{}',
  reaction_count integer not null default 0,
  client_sent_at double precision,
  created_at timestamptz not null,
  edited_at timestamptz,
  deleted_at timestamptz,
  deleted_by text,
  primary key (conversation_id, position)
);
create unique index messages_client_id on messages (conversation_id, coalesce(sender_id, ''), client_message_id)
  where client_message_id is not null;
create index messages_of_sender on messages (conversation_id, sender_id, position);
create index messages_of_thread on messages (thread_root_id, position) where thread_root_id is not null;
create index messages_deleted on messages (conversation_id, seq) where deleted_at is not null;
create index messages_by_time on messages using brin (created_at);

-- Messages that retention took out of the middle (replies of a retired root); forgotten when retired_seq passes them.
create table message_holes (
  conversation_id uuid not null references conversations (id),
  seq bigint not null,
  primary key (conversation_id, seq)
);

create table reactions (
  message_id text not null,
  emoji text not null,
  user_id text not null,
  created_at timestamptz not null,
  primary key (message_id, emoji, user_id)
);

-- Every visible change but new messages, which are found by their position.
create table conversation_changes (
  conversation_id uuid not null references conversations (id),
  change bigint not null,
  type text not null,
  message_id text,
  -- What the frame says beside the message, as it was then.
  data jsonb not null default '{}',
  created_at timestamptz not null,
  primary key (conversation_id, change)
);
create index conversation_changes_of_message on conversation_changes (message_id) where message_id is not null;

create table attachments (
  id text primary key,
  conversation_id uuid not null references conversations (id),
  filename text not null,
  mime_type text not null,
  size bigint not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'UPLOADED', 'ATTACHED', 'EXPIRED')),
  uploader_id text,
  metadata jsonb not null default '{}',
  checksum text,
  blob_key text not null,
  uploaded_at timestamptz,
  message_id text,
  created_at timestamptz not null,
  completed_at timestamptz,
  -- After this nobody completes or attaches it any more; null once it is attached.
  expires_at timestamptz
);
create index attachments_of_conversation on attachments (conversation_id);
create index attachments_expiry on attachments (expires_at) where expires_at is not null;

create table chat_connections (
  id uuid primary key,
  project_id uuid not null references projects (id),
  environment text not null,
  user_id text not null,
  -- The process that holds the socket: when it dies, its rows are closed by another.
  process_id uuid not null,
  user_agent text,
  ip text,
  subscriptions integer not null default 0,
  messages_sent integer not null default 0,
  connected_at timestamptz not null,
  disconnected_at timestamptz,
  close_code integer
);
create index chat_connections_of_project on chat_connections (project_id, environment, connected_at desc, id desc);
create index chat_connections_open on chat_connections (process_id) where disconnected_at is null;
