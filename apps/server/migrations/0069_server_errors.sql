-- concurrently: the log of requests is written all the time.
-- Errors of the server are few among those of clients: found without walking over these.
create index concurrently if not exists api_requests_server_errors on api_requests (project_id, environment, id)
  where status >= 500;
