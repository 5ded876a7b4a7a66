-- What an environment wants of messages. Most have no row.
create table chat_moderation (
  project_id uuid not null references projects (id),
  environment text not null check (environment in ('DEVELOPMENT', 'PRODUCTION')),
  -- Another one with every change: a process compiles what it has not seen.
  revision text not null,
  word_lists jsonb not null default '[]',
  links text not null default 'allowed' check (links in ('allowed', 'forbidden', 'moderators')),
  updated_at timestamptz not null,
  primary key (project_id, environment)
);

-- Messages that users or word lists have reported. PENDING: the message is being sent, and perhaps never was.
create table chat_reports (
  id text primary key,
  project_id uuid not null references projects (id),
  environment text not null check (environment in ('DEVELOPMENT', 'PRODUCTION')),
  conversation_id text not null,
  message_id text not null,
  sender_id text,
  source text not null check (source in ('USER', 'WORD_LIST')),
  -- Empty for those of word lists.
  reporter_id text not null,
  reason text not null,
  note text,
  status text not null check (status in ('PENDING', 'OPEN', 'RESOLVED')),
  action text,
  resolved_at timestamptz,
  created_at timestamptz not null,
  constraint chat_reports_once unique (message_id, source, reporter_id)
);
create index chat_reports_listed on chat_reports (project_id, environment, status, created_at desc, id desc);
create index chat_reports_pending on chat_reports (created_at) where status = 'PENDING';
create index chat_reports_resolved on chat_reports (resolved_at) where status = 'RESOLVED';
