-- A file is in one message. Should it have come into several, it stays in the one that it names itself.
update messages m set attachment_id = null
where m.attachment_id is not null
  and exists (select from messages n where n.attachment_id = m.attachment_id and n.id <> m.id)
  and not exists (select from attachments a where a.id = m.attachment_id and a.message_id = m.id);

create unique index messages_attachment on messages (attachment_id) where attachment_id is not null;
