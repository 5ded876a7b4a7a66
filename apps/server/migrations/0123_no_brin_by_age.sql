-- concurrently: every message writes an event, and every event its deliveries.
-- contract: nothing since 0.1.0 looks for old events and deliveries by their time: they lie at the front of the primary keys (ADR 0151).
drop index concurrently if exists events_age;
drop index concurrently if exists deliveries_age;
