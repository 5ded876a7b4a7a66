-- The link that each server prints while there is no account, to make the first one without mail (ADR 116).
create table first_account_links (
  server text primary key,
  token_hash text not null unique,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
