-- TLS of our own with certificates by ACME (ADR 112), shared by all servers. Keys are sealed.
create table acme_accounts (
  directory_url text primary key,
  key_sealed text not null,
  created_at timestamptz not null
);

create table certificates (
  name text primary key,
  -- Whose it is, or is to be.
  directory_url text not null,
  -- With its chain; null until the first is issued.
  certificate text,
  key_sealed text,
  -- When the next order is to be made. The server that moves it on makes it.
  due_at timestamptz not null,
  -- Orders in a row that failed, and why the last one did.
  failures integer not null default 0,
  problem text,
  -- What proves the name to the authority while an order is under way.
  proof text
);
