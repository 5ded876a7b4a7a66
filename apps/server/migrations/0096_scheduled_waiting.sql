-- concurrently: messages are scheduled all the time.
-- What waits in a conversation is found without walking over what was sent.
create index concurrently if not exists scheduled_messages_waiting on scheduled_messages (conversation_id, send_at, id)
  where status <> 'SENT';
