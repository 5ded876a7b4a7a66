-- What makes the epochs of all conversations new at once after the data was moved or restored; null until then.
alter table chat_lineage add column seed text;
