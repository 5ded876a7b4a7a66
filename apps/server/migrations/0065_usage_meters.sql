-- What was used on a day, by meter and by the API key behind it: messages, milliseconds or bytes. An empty key: none.
create table usage_meters (
  project_id uuid not null,
  environment text not null,
  day date not null,
  meter text not null,
  key_id text not null default '',
  value bigint not null,
  primary key (project_id, environment, day, meter, key_id)
);

-- Until when time that passes (recorded rooms) has been metered.
create table usage_ticks (
  name text primary key,
  at timestamptz not null
);

-- The operator's own: integers of a millionth of the currency, by meter.
create table usage_prices (
  project_id uuid primary key references projects (id),
  currency text not null,
  prices jsonb not null,
  updated_at timestamptz not null
);
