-- As 0112.
alter table conversation_members drop constraint conversation_members_role_check;

create function check_conversation_member() returns trigger language plpgsql as $$
begin
  if new.role in ('OWNER', 'ADMIN', 'MODERATOR', 'MEMBER', 'GUEST') then return null;
  end if;
  raise check_violation using message = 'a member has a role that there is not',
    table = 'conversation_members', constraint = 'conversation_members_role';
end $$;

create trigger conversation_members_checked
  after insert or update of role on conversation_members
  for each row execute function check_conversation_member();
