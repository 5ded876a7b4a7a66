-- What happened to people's accounts: sign-ins, failures, resets, sessions. No address, only its network in words.
create table security_entries (
  id text primary key,
  -- No reference: what was recorded survives the account.
  user_id uuid not null,
  user_email text not null,
  action text not null,
  device text,
  place text,
  metadata jsonb not null default '{}',
  request_id text not null,
  created_at timestamptz not null
);
create index security_entries_of_user on security_entries (user_id, created_at desc, id desc);
create index security_entries_newest on security_entries (created_at desc, id desc);
create index audit_entries_oldest on audit_entries (created_at);

-- Append-only as ever, but for retention: its transaction says until when entries have expired, and only those go.
create or replace function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if old.created_at < nullif(current_setting('parley.audit_expired_before', true), '')::timestamptz then
      return old;
    end if;
  end if;
  raise exception 'audit entries cannot be changed or removed';
end $$;
create trigger security_entries_append_only before update or delete on security_entries
  for each row execute function refuse_audit_change();
create trigger security_entries_no_truncate before truncate on security_entries
  for each statement execute function refuse_audit_change();
