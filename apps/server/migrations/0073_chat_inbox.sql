-- What a member has set for themselves, and how far messages have reached their devices.
alter table conversation_members
  add column muted_at timestamptz,
  -- Null while muted: until it is unmuted.
  add column muted_until timestamptz,
  add column pinned_at timestamptz,
  -- Hidden while the conversation has no message after this one: a new message shows it again without a write.
  add column hidden_seq bigint,
  -- When one of the above changed, or the read mark was moved back.
  add column own_changed_at timestamptz,
  add column last_delivered_seq bigint not null default 0,
  add column last_delivered_at timestamptz;
