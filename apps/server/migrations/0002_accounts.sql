-- Written for a known address too, so that registering costs one committed write whether or not the address is known.
alter table users add column last_registration_at timestamptz;

-- Who became the instance's operator by being first. One row at most, whoever races for it.
create table first_account (
  is_only boolean primary key default true check (is_only),
  user_id uuid not null references users (id)
);

-- One sign-in in one browser: the family of all refresh tokens that descend from it. The tokens themselves are
-- (id, generation) under a MAC and are not stored at all.
create table sessions (
  id uuid primary key,
  user_id uuid not null references users (id),
  generation integer not null default 1,
  -- Generations from this one on were superseded since grace_started_at, by tabs that refreshed at once.
  grace_generation integer not null default 1,
  grace_started_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  end_reason text check (end_reason in ('LOGOUT', 'PASSWORD_CHANGED', 'TOKEN_REUSED'))
);
create index sessions_of_user on sessions (user_id) where ended_at is null;
create index sessions_expiry on sessions (expires_at);

-- Links that were mailed. One row per user and kind: a new link takes the place of the older one.
create table mail_tokens (
  user_id uuid not null references users (id),
  kind text not null check (kind in ('VERIFY', 'RESET')),
  token_hash text not null constraint mail_tokens_hash unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (user_id, kind)
);
create index mail_tokens_expiry on mail_tokens (expires_at);

-- Sign-ins on their way to a provider and back. The key is a hash of the state and of the browser's cookie.
create table oauth_states (
  key_hash text primary key,
  provider text not null,
  redirect_uri text not null,
  -- PKCE verifier and nonce, sealed.
  secrets text not null,
  expires_at timestamptz not null
);
create index oauth_states_expiry on oauth_states (expires_at);

-- By issuer, not by our name for the provider: another issuer's subjects are other people.
create table oauth_identities (
  issuer text not null,
  subject text not null,
  user_id uuid not null references users (id),
  created_at timestamptz not null,
  primary key (issuer, subject)
);
create index oauth_identities_of_user on oauth_identities (user_id);
