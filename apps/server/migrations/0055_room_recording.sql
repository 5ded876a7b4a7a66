-- What the backend says to participants: whoever records the room is not the service (ADR 143).
alter table rooms add column recording boolean not null default false;
