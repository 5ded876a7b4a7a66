-- What a quota has been used for so far. Counting the rows themselves would read all of them for each new one.
create table quota_uses (
  -- The limit it counts against, and whose it is.
  name text not null,
  owner text not null,
  used bigint not null,
  primary key (name, owner)
);

insert into quota_uses (name, owner, used)
select 'CHAT_MAX_CONVERSATIONS', project_id || ' ' || environment, count(*)
from conversations where status <> 'DELETED' group by 2;

insert into quota_uses (name, owner, used)
select 'STORAGE_MAX_BYTES_PER_PROJECT', c.project_id || ' ' || c.environment, sum(a.size)
from attachments a join conversations c on c.id = a.conversation_id group by 2;

insert into quota_uses (name, owner, used)
select 'STORAGE_MAX_BYTES_PER_USER', c.project_id || ' ' || c.environment || ' ' || a.uploader_id, sum(a.size)
from attachments a join conversations c on c.id = a.conversation_id where a.uploader_id is not null group by 2;
