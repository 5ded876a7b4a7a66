-- Messages that are sent at a time (ADR 0188). The id of the message is given with the row, so that it is sent once.
create table scheduled_messages (
  id text primary key,
  conversation_id uuid not null,
  project_id uuid not null references projects (id),
  environment text not null,
  message_id text not null,
  -- Whose it is; null for a server's.
  user_id text,
  -- By what right: a user's token, or an API key.
  issued jsonb not null,
  -- As it was given; empty once it was sent.
  draft jsonb not null,
  send_at timestamptz not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'SENDING', 'SENT', 'FAILED')),
  -- Of one that is being sent: after this another process takes it.
  claimed_until timestamptz,
  failure text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index scheduled_messages_of_conversation on scheduled_messages (conversation_id, send_at, id);
create index scheduled_messages_due on scheduled_messages (send_at) where status in ('PENDING', 'SENDING');
create index scheduled_messages_over on scheduled_messages (updated_at) where status in ('SENT', 'FAILED');
