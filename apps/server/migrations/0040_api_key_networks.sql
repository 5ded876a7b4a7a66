-- From which networks an API key has been used: the first use from each is in the audit log of its project.
create table api_key_networks (
  key_id uuid not null,
  network text not null,
  first_used_at timestamptz not null,
  primary key (key_id, network)
);
