-- Where a user is in very many conversations, entries of their inbox in which nothing happens are kept in its order, so
-- that neither a page nor a badge walks them (ADR 0224). One table that others write a migration, as in 0112.
create table dormant_entries (
  project_id uuid not null,
  environment text not null,
  user_id text not null,
  -- The last activity of the conversation.
  at timestamptz not null,
  conversation_id uuid not null,
  -- What is unread, whoever sent it: blocks are no part of it.
  unread integer not null,
  mentions integer not null,
  -- It is dormant no more; the sums of its user still hold it.
  woken boolean not null default false,
  settled_at timestamptz not null,
  primary key (project_id, environment, user_id, at, conversation_id)
);
create unique index dormant_entries_of_conversation on dormant_entries (conversation_id, user_id);
create index dormant_entries_woken on dormant_entries (project_id, environment, user_id) where woken;

-- Sums over all rows of a user in `dormant_entries`.
create table dormant_sums (
  project_id uuid not null,
  environment text not null,
  user_id text not null,
  unread_conversations integer not null default 0,
  unread_messages bigint not null default 0,
  unread_mentions bigint not null default 0,
  primary key (project_id, environment, user_id)
);

-- True while somebody's entry of it is dormant.
alter table conversations add column has_dormant boolean not null default false;

-- Members before entries, as who changes a membership does, and one by one in one order. What happens all the time sets
-- `has_dormant` itself: for a row that is changed twice in a transaction its foreign key is checked anew.
create function wake_conversation() returns trigger language plpgsql as $$
declare
  sleeper text;
begin
  for sleeper in
    select user_id from dormant_entries where conversation_id = new.id and not woken order by conversation_id, user_id
  loop
    update conversation_members set dormant = false
    where conversation_id = new.id and user_id = sleeper and dormant;
    update dormant_entries set woken = true
    where conversation_id = new.id and user_id = sleeper and not woken;
  end loop;
  if new.has_dormant then
    update conversations set has_dormant = false where id = new.id;
  end if;
  return null;
end $$;

create trigger conversations_woken
  after update of last_change, message_count, retired_seq, status, updated_at on conversations
  for each row when (old.has_dormant) execute function wake_conversation();
