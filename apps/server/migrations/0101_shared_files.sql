-- concurrently: files are announced all the time.
-- Whether another row holds the same file, and which copies are of files of a user.
create index concurrently if not exists attachments_shared on attachments (blob_key) where shared;
create index concurrently if not exists attachments_of_origin on attachments (origin_uploader_id)
  where origin_uploader_id is not null;
