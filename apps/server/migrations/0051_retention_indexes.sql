-- concurrently: the tables may be large, and writers must not wait.
-- What retention looks for, so that a look costs what it finds.
create index concurrently if not exists conversations_retained on conversations (id) where retention_days is not null;
create index concurrently if not exists conversations_erased on conversations (id) where status = 'DELETED';
create index concurrently if not exists chat_connections_ended on chat_connections (disconnected_at)
  where disconnected_at is not null;
