-- What a key is bounded to; null is no bound. Where it was last used from is kept as the network, not the address.
alter table api_keys add column scopes text[];
alter table api_keys add column expires_at timestamptz;
alter table api_keys add column allowed_networks text[];
alter table api_keys add column last_used_from text;
