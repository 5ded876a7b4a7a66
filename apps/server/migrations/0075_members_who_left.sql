-- concurrently: memberships are written all the time.
-- Conversations that a user has left since some time.
create index concurrently if not exists conversation_members_left on conversation_members (user_id, removed_at)
  where not active;
