-- Requests to the API as a project sees them: no body, no path, no address. Rows age out by themselves.
create table api_requests (
  id bigint generated always as identity primary key,
  project_id uuid not null,
  environment text not null,
  at timestamptz not null,
  request_id text not null,
  method text not null,
  route text not null,
  status smallint not null,
  ms double precision not null,
  credential text not null,
  key_id text,
  code text,
  skipped integer not null default 0
);
create index api_requests_newest on api_requests (project_id, environment, id);
create index api_requests_failed on api_requests (project_id, environment, id) where status >= 400;
create index api_requests_by_id on api_requests (request_id);
create index api_requests_age on api_requests (at);
