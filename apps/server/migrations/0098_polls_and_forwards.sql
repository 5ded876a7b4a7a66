-- Polls with their counts, and where a forwarded message comes from (ADR 0206, 0208).
alter table messages add column poll jsonb;
-- Until when it is open; null once it is closed, and where it has no end.
alter table messages add column poll_closes_at timestamptz;
alter table messages add column forwarded jsonb;

-- One row a voter: a vote replaces the one before it.
create table poll_votes (
  message_id text not null,
  user_id text not null,
  conversation_id uuid not null,
  options smallint[] not null,
  voted_at timestamptz not null,
  primary key (message_id, user_id)
);
create index poll_votes_by_time on poll_votes (message_id, voted_at, user_id);
create index poll_votes_of_user on poll_votes (user_id, conversation_id);
create index poll_votes_of_conversation on poll_votes (conversation_id);

-- Other rows may hold the same file: it goes with the last of them.
alter table attachments add column shared boolean not null default false;
-- Of a forwarded file: who uploaded it first.
alter table attachments add column origin_uploader_id text;
