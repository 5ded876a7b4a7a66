-- concurrently: the log of requests is written all the time.
-- One for each filter, newest first: what matches few of many requests is found without walking over the others.
create index concurrently if not exists api_requests_by_route on api_requests (project_id, environment, route, id);
create index concurrently if not exists api_requests_by_method on api_requests (project_id, environment, method, id);
create index concurrently if not exists api_requests_by_key on api_requests (project_id, environment, key_id, id)
  where key_id is not null;
create index concurrently if not exists api_requests_by_code on api_requests (project_id, environment, code, id)
  where code is not null;
