-- concurrently: messages are sent all the time.
-- Erasure looks for what was forwarded of a user.
create index concurrently if not exists messages_forwarded_of on messages ((forwarded ->> 'senderId'))
  where forwarded is not null;
