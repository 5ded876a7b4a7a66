-- concurrently: people join all the time.
-- All memberships of a user, and those that are not dormant, by one index.
create index concurrently if not exists conversation_members_by_user
  on conversation_members (user_id, dormant) where active;
