-- PostgreSQL prepares every CHECK of a table anew for each statement that writes a row of it, whatever it sets: for a
-- lone message a tenth of the database's time (ADR 220). These columns are set rarely, and are looked at when they are.
-- One table a migration: the lock of two at once would meet those who send in the other order.
alter table conversations
  drop constraint conversations_environment_check,
  drop constraint conversations_type_check,
  drop constraint conversations_status_check,
  drop constraint conversations_retention_days_check,
  drop constraint conversations_slow_mode_seconds_check;

create function check_conversation() returns trigger language plpgsql as $$
begin
  if new.environment in ('DEVELOPMENT', 'PRODUCTION') and new.type in ('DIRECT', 'GROUP', 'CHANNEL', 'ROOM')
    and new.status in ('ACTIVE', 'ARCHIVED', 'DELETED') and coalesce(new.retention_days, 1) between 1 and 3650
    and new.slow_mode_seconds between 0 and 21600
  then return null;
  end if;
  raise check_violation using message = 'a conversation has a value that it must not have',
    table = 'conversations', constraint = 'conversations_values';
end $$;

create trigger conversations_checked
  after insert or update of environment, type, status, retention_days, slow_mode_seconds on conversations
  for each row execute function check_conversation();
