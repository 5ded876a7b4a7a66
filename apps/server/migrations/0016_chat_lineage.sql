-- Which database the conversations' numbers were given in. A restored copy is another one: its clients must reload.
create table chat_lineage (
  is_one boolean primary key default true check (is_one),
  mark text not null
);
