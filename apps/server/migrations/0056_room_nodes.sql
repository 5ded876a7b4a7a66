-- The nodes that a room is on besides its home, rooms.server_name (ADR 162).
create table room_nodes (
  room_id text not null references rooms (id) on delete cascade,
  server_name text not null,
  server_instance text not null,
  created_at timestamptz not null,
  primary key (room_id, server_name)
);
create index room_nodes_of_server on room_nodes (server_name);
