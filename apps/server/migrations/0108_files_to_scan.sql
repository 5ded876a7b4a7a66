-- concurrently: files are completed all the time.
-- Files that wait for the answer of a scanner: few.
create index concurrently if not exists attachments_scan_due on attachments (scan_due_at)
  where scan_due_at is not null;
