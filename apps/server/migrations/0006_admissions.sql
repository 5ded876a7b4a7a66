-- Grows with each admission to a room: tells a media node which of two sessions of an identity is the newer one.
alter table rooms add column admissions bigint not null default 0;
alter table participant_sessions add column admission bigint not null default 0;
