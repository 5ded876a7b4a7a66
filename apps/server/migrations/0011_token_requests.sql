-- The request that minted the token: it leads from a backend's log line to the connection, and back.
alter table rtc_tokens add column request_id text;
