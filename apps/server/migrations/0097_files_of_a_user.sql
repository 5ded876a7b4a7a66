-- concurrently: files are announced all the time.
-- Erasure and export look for the files of a user.
create index concurrently if not exists attachments_of_uploader on attachments (uploader_id)
  where uploader_id is not null;
