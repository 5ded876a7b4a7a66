-- A retry is found by one expression that no other index begins with: a plan made while the table was empty cannot come
-- to read all messages of a conversation instead (ADR 0018). The length keeps sender and id apart, whatever is in them.
drop index messages_client_id;
create unique index messages_client_key
  on messages ((conversation_id::text || length(coalesce(sender_id, ''))::text || ':' || coalesce(sender_id, '') || client_message_id))
  where client_message_id is not null;
