-- Messages that a conversation keeps at hand.
create table message_pins (
  conversation_id uuid not null,
  message_id text not null,
  pinned_by text not null,
  pinned_at timestamptz not null,
  primary key (conversation_id, message_id)
);
