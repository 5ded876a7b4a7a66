-- Members open the project with a second factor only.
alter table projects add column require_second_factor boolean not null default false;
