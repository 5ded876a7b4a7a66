-- A user of chat may have done what an entry says, as a moderator: of one who is erased the name and the machine go too.
create or replace function refuse_audit_change() returns trigger language plpgsql as $$
declare
  erased text := nullif(current_setting('parley.audit_erased_user', true), '');
  given text[] := array['resource_id', 'metadata'];
begin
  if tg_op = 'DELETE' then
    if old.created_at < nullif(current_setting('parley.audit_expired_before', true), '')::timestamptz then
      return old;
    end if;
  elsif tg_op = 'UPDATE' and erased is not null and tg_table_name = 'audit_entries' then
    if old.actor_email = 'Chat user ' || erased then
      given := given || array['actor_email', 'ip_address', 'user_agent'];
    end if;
    if (old.resource_id = erased or old.actor_email = 'Chat user ' || erased
        or strpos(old.metadata::text, to_json(erased)::text) > 0)
      and to_jsonb(new) - given = to_jsonb(old) - given then
      return new;
    end if;
  end if;
  raise exception 'audit entries cannot be changed or removed';
end $$;
