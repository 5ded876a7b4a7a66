-- The terms of a message (ADR 0187): its words, and where and when it was written, so that one look at the index narrows
-- both. Written behind the sends.
create table message_search (
  conversation_id uuid not null,
  position bigint not null,
  created_at timestamptz not null,
  terms tsvector not null,
  primary key (conversation_id, position)
) with (toast_tuple_target = 128);
-- Beside the row, not in it: a search reads when each message was written that the index names, and no term.
alter table message_search alter column terms set storage external;
-- What is behind is merged by whoever writes the terms, some thousand messages at a time; nobody who sends waits for it.
create index message_search_terms on message_search using gin (terms) with (fastupdate = on, gin_pending_list_limit = 1024);

-- Messages that are new, edited or gone since their terms were written. Searches look at their texts themselves. Without
-- an index: a row is written with every message, and the table is nearly empty.
create table search_pending (
  conversation_id uuid not null,
  position bigint not null
);

-- Conversations of before: their messages up to `done` have terms.
create table search_backlog (
  conversation_id uuid primary key,
  done bigint not null default 0
);
insert into search_backlog (conversation_id) select id from conversations where last_seq > 0 and status <> 'DELETED';
