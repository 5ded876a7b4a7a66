-- concurrently: messages are reported all the time.
-- A moderator's list is read conversation by conversation.
create index concurrently if not exists chat_reports_of_conversation
  on chat_reports (conversation_id, status, created_at desc, id desc);
