-- A message as JSON, made once when it is stored and read as it is (ADR 0071). Whatever changes the row makes it fade:
-- from then on the record is made when it is read.
alter table messages add column record text;

create function fade_message_record() returns trigger language plpgsql as $$
begin
  new.record := null;
  return new;
end $$;

create trigger messages_record_fades before update on messages
  for each row when (old.record is not null) execute function fade_message_record();

-- A message is stored under the lock of its conversation, which is deleted only after its messages: asking for it once
-- more for each row found nothing new.
alter table messages drop constraint messages_conversation_id_fkey;

-- Written for every message and read by few: kept as it was written.
alter table events alter column data type text;
