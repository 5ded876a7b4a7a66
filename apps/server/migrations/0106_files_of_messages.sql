-- Several files in a message (ADR 0214): all their ids, the first of which is attachment_id too. Null for none or one.
alter table messages add column attachment_ids text[];

-- What is known of a picture or a sound beside its bytes (ADR 0215), and what its uploader said of the wave.
-- media_due_at: when it is looked at next; null when there is nothing to do.
alter table attachments add column media jsonb, add column waveform jsonb, add column media_due_at timestamptz,
  add column media_tries integer not null default 0;

-- What the customer's scanner said of it (ADR 0217); null where none was asked.
alter table attachments add column scan text, add column scan_reason text, add column scan_due_at timestamptz,
  add column scan_tries integer not null default 0;
alter table chat_moderation add column scan_url text, add column scan_timeout_ms integer, add column scan_on_failure text,
  add column scan_secret text, add column scan_previous_secret text, add column scan_previous_until timestamptz;
