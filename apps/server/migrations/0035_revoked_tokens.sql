-- Tokens revoked by their id that have no row of their own: chat tokens, and what was signed offline and not used yet.
create table revoked_tokens (
  project_id uuid not null references projects (id),
  environment text not null,
  token_id text not null,
  revoked_at timestamptz not null,
  primary key (project_id, environment, token_id)
);
create index revoked_tokens_at on revoked_tokens (revoked_at);

-- Since when the tokens of an identity are void for a room: those that were signed offline have no row to revoke.
create table rtc_token_cutoffs (
  room_id text not null references rooms (id),
  identity text not null,
  cut_at timestamptz not null,
  primary key (room_id, identity)
);
create index rtc_token_cutoffs_at on rtc_token_cutoffs (cut_at);
