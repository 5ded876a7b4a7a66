-- What a node says of each core, and of packets; nodes of before say none of it.
alter table media_servers
  add column core_cpu_percents double precision[],
  add column packets_in_per_second double precision,
  add column packets_out_per_second double precision,
  add column loss_in_percent double precision,
  add column loss_out_percent double precision;
alter table node_samples
  add column core_cpu_percents double precision[],
  add column packets_in_per_second double precision,
  add column packets_out_per_second double precision,
  add column loss_in_percent double precision,
  add column loss_out_percent double precision;
