-- While an attempt is under way its row is held until then; `due_at` stays. What a claim changes is in no index, so that
-- with room on the page it writes no index at all.
alter table deliveries add column claimed_until timestamptz;
alter table deliveries set (fillfactor = 50);
