-- 0121 takes its place.
drop index if exists conversation_members_of_user;
