-- Keys by which a backend mints tokens without asking: a secret that we keep sealed, or the public half of a pair.
create table signing_keys (
  id text primary key,
  project_id uuid not null references projects (id),
  environment text not null check (environment in ('DEVELOPMENT', 'PRODUCTION')),
  name text not null,
  algorithm text not null check (algorithm in ('HS256', 'EdDSA', 'ES256')),
  sealed_secret text,
  public_key text,
  created_by uuid references users (id),
  created_by_email text,
  created_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz,
  check ((algorithm = 'HS256') = (sealed_secret is not null)),
  check ((algorithm = 'HS256') = (public_key is null))
);
create index signing_keys_of_project on signing_keys (project_id, created_at desc, id desc);
create index signing_keys_revoked on signing_keys (revoked_at) where revoked_at is not null;

-- What a token signed offline says, as it was first used: another with its id is refused. Null for one that we minted.
alter table rtc_tokens add column claims_hash bytea;
