-- concurrently: stays are many, and joins must not wait.
-- What a join reads of a room, so that a room with many viewers costs it no more than one with few.
create index concurrently if not exists participant_sessions_held on participant_sessions (room_id)
  where left_at is null and joined_at is null;
create index concurrently if not exists participant_sessions_publishers on participant_sessions (room_id)
  where left_at is null and is_publisher;
create index concurrently if not exists participant_sessions_members on participant_sessions (room_id, joined_at, id)
  where left_at is null and kind = 'MEMBER';
