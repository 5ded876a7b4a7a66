-- concurrently: messages are sent all the time.
-- Open polls that end at a time.
create index concurrently if not exists messages_poll_due on messages (poll_closes_at) where poll_closes_at is not null;
