-- What a link in a message leads to (ADR 0218); off unless the environment wants it.
alter table messages add column link_preview jsonb;
alter table chat_moderation add column link_previews boolean not null default false;

-- Links to be looked at, put here with their message. A row is a message's: a later text replaces it.
create table link_previews (
  message_id text primary key,
  conversation_id uuid not null,
  url text not null,
  due_at timestamptz not null,
  tries integer not null default 0
);
create index link_previews_due on link_previews (due_at);
create index link_previews_of_conversation on link_previews (conversation_id);
