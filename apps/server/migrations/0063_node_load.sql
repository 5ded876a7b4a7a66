-- The rest of what nodes say with each heartbeat; rows of before have none of it.
alter table node_samples
  add column memory_percent double precision,
  add column network_in_bps double precision,
  add column network_out_bps double precision,
  add column active_rooms double precision,
  add column active_participants double precision;
