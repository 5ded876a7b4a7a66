-- A node that is about to end takes no room until it registers again; is_draining is the operator's and outlives that.
alter table media_servers add column is_leaving boolean not null default false;
