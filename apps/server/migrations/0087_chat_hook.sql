-- The call before a message is stored. Secrets are sealed; the one before is signed with too for a while.
alter table chat_moderation add column hook_url text, add column hook_timeout_ms integer, add column hook_on_failure text
  check (hook_on_failure in ('open', 'closed')), add column hook_secret text, add column hook_previous_secret text,
  add column hook_previous_until timestamptz;
