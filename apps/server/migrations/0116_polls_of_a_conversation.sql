-- concurrently: messages are sent all the time.
-- The dashboard counts the polls of a conversation; there are few beside its messages (ADR 0222).
create index concurrently if not exists messages_polls on messages (conversation_id, position) where poll is not null;
