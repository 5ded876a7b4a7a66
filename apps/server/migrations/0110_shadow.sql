-- Shadow mode (ADR 0211). `shadowed_until` is where the statement that stores messages looks, as at `silenced_until`;
-- one that is over stays, and says that the member may have messages here that nobody else has.
alter table conversation_members add column shadowed_until timestamptz;

-- contract: nothing since 0.1.0 writes what the new constraint refuses; it allows one kind more.
alter table chat_sanctions drop constraint chat_sanctions_kind_check;
alter table chat_sanctions add constraint chat_sanctions_kind check (kind in ('BAN', 'MUTE', 'SHADOW'));
create index chat_sanctions_shadows on chat_sanctions (project_id, environment) where kind = 'SHADOW';

-- What was sent in the shadow, with the columns of a message: it stands behind `position`, in the order of `n`, and
-- takes no number of the conversation.
create table shadow_messages (
  id text primary key,
  n bigint generated always as identity constraint shadow_messages_n unique,
  conversation_id uuid not null,
  position bigint not null,
  seq bigint not null,
  change bigint not null,
  type text not null,
  text text,
  sender_id text not null,
  sender_role text,
  reply_to text,
  thread_root_id text,
  reply_count integer not null default 0,
  last_reply_at timestamptz,
  client_message_id text,
  attachment_id text,
  attachment_ids text[],
  metadata jsonb not null default '{}',
  reaction_count integer not null default 0,
  client_sent_at double precision,
  created_at timestamptz not null,
  edited_at timestamptz,
  deleted_at timestamptz,
  deleted_by text,
  mentions jsonb,
  link_preview jsonb,
  poll jsonb,
  forwarded jsonb,
  record text
);
create unique index shadow_messages_client_id on shadow_messages (conversation_id, sender_id, client_message_id)
  where client_message_id is not null;
create index shadow_messages_of_sender on shadow_messages (conversation_id, sender_id, position, n);
create index shadow_messages_of_conversation on shadow_messages (conversation_id, n);
create index shadow_messages_of_user on shadow_messages (sender_id, n);
