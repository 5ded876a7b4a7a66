-- contract: nothing of before writes direct_key, since 0.1.0 first has it.
-- concurrently: every message updates its conversation.
-- The one of exactly these people: who loses the race to make it finds the winner's.
create unique index concurrently if not exists conversations_direct on conversations (project_id, environment, direct_key)
  where direct_key is not null and status <> 'DELETED';
