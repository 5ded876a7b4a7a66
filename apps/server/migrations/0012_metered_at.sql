-- Whether a stay stands in usage_days is said on the stay itself: what is still to be metered is found by an index,
-- however long the history is.
alter table participant_sessions add column metered_at timestamptz;
update participant_sessions p set metered_at = m.metered_at from metered_sessions m where m.session_id = p.id;
create index participant_sessions_unmetered on participant_sessions (left_at)
  where metered_at is null and left_at is not null and joined_at is not null;
create index participant_sessions_uncounted on participant_sessions (project_id)
  where metered_at is null and joined_at is not null;
drop table metered_sessions;
