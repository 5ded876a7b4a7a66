-- concurrently: files are completed all the time.
-- Pictures and sounds that wait to be looked at: few.
create index concurrently if not exists attachments_media_due on attachments (media_due_at)
  where media_due_at is not null;
