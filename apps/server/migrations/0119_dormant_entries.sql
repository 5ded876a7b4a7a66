-- Where a user is in very many conversations, entries of their inbox in which nothing happens are kept in its order, so
-- that neither a page nor a badge walks them (ADR 0224). `dormant` and `has_dormant` are set by who keeps them and
-- reset below, by whatever changes a conversation or its place in an inbox.
alter table conversation_members add column dormant boolean not null default false;
alter table conversations add column has_dormant boolean not null default false;

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

-- Members before entries, as who changes a membership does: two that wake the same entry cannot deadlock.
create function wake_conversation() returns trigger language plpgsql as $$
begin
  update conversation_members m set dormant = false from dormant_entries e
  where e.conversation_id = new.id and not e.woken
    and m.conversation_id = e.conversation_id and m.user_id = e.user_id and m.dormant;
  update dormant_entries set woken = true where conversation_id = new.id and not woken;
  update conversations set has_dormant = false where id = new.id;
  return null;
end $$;

create trigger conversations_woken
  after update of last_change, message_count, retired_seq, status, updated_at on conversations
  for each row when (old.has_dormant) execute function wake_conversation();

-- Those that happen all the time set `dormant` themselves: for a row that is changed twice in a transaction its foreign
-- key is checked anew, and that waits for whoever sends there.
create function wake_member() returns trigger language plpgsql as $$
begin
  update dormant_entries set woken = true
  where conversation_id = new.conversation_id and user_id = new.user_id and not woken;
  if new.dormant then
    update conversation_members set dormant = false
    where conversation_id = new.conversation_id and user_id = new.user_id;
  end if;
  return null;
end $$;

create trigger conversation_members_woken
  after update of active, last_read_seq, last_read_position, muted_at, pinned_at, hidden_seq, own_changed_at
  on conversation_members
  for each row when (old.dormant) execute function wake_member();
