-- What is done with the data of a user, or brought in: export, erasure, import. A process takes a job for a while and
-- goes on saying that it has it; what a killed process held is taken by another.
create table data_jobs (
  id text primary key,
  project_id uuid not null references projects (id),
  environment text not null check (environment in ('DEVELOPMENT', 'PRODUCTION')),
  kind text not null check (kind in ('EXPORT', 'ERASURE', 'IMPORT')),
  state text not null check (state in ('WAITING', 'QUEUED', 'RUNNING', 'DONE', 'FAILED')),
  -- Null once the user is erased.
  user_id text,
  options jsonb not null default '{}',
  progress bigint not null default 0,
  error text,
  -- The file that it made or was given.
  blob_key text,
  size bigint,
  attempts integer not null default 0,
  due_at timestamptz not null,
  claimed_until timestamptz,
  created_at timestamptz not null,
  finished_at timestamptz,
  -- When its file goes; null without one.
  expires_at timestamptz
);
create index data_jobs_open on data_jobs (due_at) where state in ('QUEUED', 'RUNNING');
create index data_jobs_of_project on data_jobs (project_id, environment, created_at desc, id desc);
create index data_jobs_expiry on data_jobs (expires_at) where expires_at is not null;
create index data_jobs_finished on data_jobs (finished_at) where finished_at is not null;
-- A second request for the same finds the first.
create unique index data_jobs_once on data_jobs (project_id, environment, kind, user_id)
  where state in ('QUEUED', 'RUNNING') and user_id is not null;

-- Of an entry about a user who is erased only the user goes; the transaction says whose id that is.
create or replace function refuse_audit_change() returns trigger language plpgsql as $$
declare
  erased text := nullif(current_setting('parley.audit_erased_user', true), '');
begin
  if tg_op = 'DELETE' then
    if old.created_at < nullif(current_setting('parley.audit_expired_before', true), '')::timestamptz then
      return old;
    end if;
  elsif tg_op = 'UPDATE' and erased is not null and tg_table_name = 'audit_entries' then
    if (old.resource_id = erased or strpos(old.metadata::text, to_json(erased)::text) > 0)
      and to_jsonb(new) - array['resource_id', 'metadata'] = to_jsonb(old) - array['resource_id', 'metadata'] then
      return new;
    end if;
  end if;
  raise exception 'audit entries cannot be changed or removed';
end $$;
