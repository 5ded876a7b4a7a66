-- Links that prove an address. Beside mail_tokens, which keeps one link of a kind: here each registration has its own,
-- so that registering an address again voids nothing that another began (ADR 90).
create table verification_links (
  token_hash text primary key,
  user_id uuid not null references users (id),
  -- In development, on the link of the only registration: the address whose call with the token alone confirms its password.
  confirms_from text,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index verification_links_of_user on verification_links (user_id);
create index verification_links_expiry on verification_links (expires_at);

-- Links on their way stay good.
insert into verification_links (token_hash, user_id, created_at, expires_at)
select token_hash, user_id, created_at, expires_at from mail_tokens where kind = 'VERIFY';
delete from mail_tokens where kind = 'VERIFY';
