-- As 0119.
alter table conversation_members add column dormant boolean not null default false;

-- What happens all the time sets `dormant` itself: a foreign key that is checked anew waits for whoever sends there.
create function wake_member() returns trigger language plpgsql as $$
begin
  update dormant_entries set woken = true
  where conversation_id = new.conversation_id and user_id = new.user_id and not woken;
  if new.dormant then
    update conversation_members set dormant = false
    where conversation_id = new.conversation_id and user_id = new.user_id;
  end if;
  return null;
end $$;

create trigger conversation_members_woken
  after update of active, last_read_seq, last_read_position, muted_at, pinned_at, hidden_seq, own_changed_at
  on conversation_members
  for each row when (old.dormant) execute function wake_member();
