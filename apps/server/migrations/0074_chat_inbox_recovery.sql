-- What an inbox that was away for a while has to be told of, beside what messages and changes say by themselves.
alter table conversations add column retired_at timestamptz;
-- When a conversation of the environment was last erased: who was in it is no longer known.
create table chat_erasures (
  project_id uuid not null references projects (id),
  environment text not null,
  erased_at timestamptz not null,
  primary key (project_id, environment)
);
