-- Each entry is the text of a JSON object: it is written once, and read only in a listing. Appending takes nothing apart.
alter table deliveries rename column attempt_log to attempt_log_before;
alter table deliveries add column attempt_log text[] not null default '{}';
update deliveries set attempt_log = array(select entry::text from jsonb_array_elements(attempt_log_before) entry)
where attempt_log_before <> '[]';
alter table deliveries drop column attempt_log_before;
