-- What a project says of its users. Nobody needs a row to chat.
create table chat_users (
  project_id uuid not null references projects (id),
  environment text not null,
  user_id text not null,
  name text,
  avatar_url text,
  role text,
  metadata jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (project_id, environment, user_id)
);

-- Whom a message mentions: a row for each user, and one with an empty user_id for everybody in the conversation.
create table message_mentions (
  conversation_id uuid not null,
  user_id text not null,
  position bigint not null,
  primary key (conversation_id, user_id, position)
);
alter table messages add column mentions jsonb;
