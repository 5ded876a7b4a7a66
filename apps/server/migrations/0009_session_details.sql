-- What a person recognises a sign-in by. The address is kept without its last part.
alter table sessions add column user_agent text;
alter table sessions add column ip text;
alter table sessions add column last_seen_at timestamptz;
