-- What a user has begun to write, on all of their devices.
create table chat_drafts (
  conversation_id uuid not null,
  user_id text not null,
  text text not null,
  reply_to text,
  metadata jsonb not null default '{}',
  -- Of the last write, which wins.
  revision bigint not null,
  updated_at timestamptz not null,
  primary key (conversation_id, user_id)
);
create index chat_drafts_of_user on chat_drafts (user_id, updated_at desc, conversation_id desc);
