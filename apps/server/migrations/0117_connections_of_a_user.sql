-- concurrently: clients connect all the time.
-- When a user was last seen, and who there is (ADR 0222); exports and erasures of a user find their sessions by it, too.
create index concurrently if not exists chat_connections_of_user
  on chat_connections (project_id, environment, user_id, connected_at desc);
