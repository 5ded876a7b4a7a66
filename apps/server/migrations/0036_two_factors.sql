-- Second factors of dashboard accounts (ADR 101).

-- An authenticator app. One for each account; it counts from its confirmation on.
create table totp_secrets (
  user_id uuid primary key references users (id),
  -- Sealed.
  secret text not null,
  created_at timestamptz not null,
  confirmed_at timestamptz,
  -- The time step of the newest code that was taken: none works twice.
  last_step bigint
);

create table passkeys (
  id uuid primary key,
  user_id uuid not null references users (id),
  credential_id text not null constraint passkeys_credential unique,
  public_key text not null,
  counter bigint not null,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index passkeys_of_user on passkeys (user_id);

-- Codes that are left; using one removes it.
create table recovery_codes (
  user_id uuid not null references users (id),
  code_hash text not null,
  primary key (user_id, code_hash)
);

-- Proofs on their way: sign-ins that lack the second factor, passkeys that are being made or asked for.
create table factor_challenges (
  token_hash text primary key,
  purpose text not null check (purpose in ('SIGN_IN', 'PASSKEY_SIGN_IN', 'STEP_UP', 'ADD_PASSKEY')),
  -- Null while a passkey alone is to say who it is.
  user_id uuid references users (id),
  expires_at timestamptz not null
);
create index factor_challenges_of_user on factor_challenges (user_id);
create index factor_challenges_expiry on factor_challenges (expires_at);

alter table sessions
  -- When the person last proved who they are; null: when they signed in.
  add column proven_at timestamptz,
  -- When they last proved it with a second factor.
  add column factor_at timestamptz;
