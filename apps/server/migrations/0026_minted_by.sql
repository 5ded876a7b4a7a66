-- Who minted a token: the API key, or the member who tests from the dashboard. What they were granted ends with them.
alter table rtc_tokens add column api_key_id text;
alter table rtc_tokens add column member_id uuid;
create index rtc_tokens_of_key on rtc_tokens (api_key_id) where revoked_at is null and api_key_id is not null;
create index rtc_tokens_of_member on rtc_tokens (member_id) where revoked_at is null and member_id is not null;
create index rtc_tokens_of_identity on rtc_tokens (project_id, environment, identity) where revoked_at is null;

-- When the tokens that a key had minted were revoked with it.
alter table api_keys add column tokens_revoked_at timestamptz;
create index api_keys_tokens_revoked on api_keys (tokens_revoked_at) where tokens_revoked_at is not null;

-- Keys end for good with the membership of their maker; those of former members were only waiting for their return.
update api_keys k set revoked_at = now()
where revoked_at is null
  and not exists (select from project_members m where m.project_id = k.project_id and m.user_id = k.created_by);
