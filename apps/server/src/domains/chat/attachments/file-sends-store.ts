import { raw, sql } from '../../../core/sql.ts';
import { filesOf } from '../messages/json-store.ts';

/** Bytes, as the database writes them: with a space here and there. */
const notedMax = 5_000;
const fileProblem = `case
        when a.status is null or a.status = 'EXPIRED' or a.expires_at <= i."createdAt"::timestamptz
          then 'ATTACHMENT_NOT_FOUND'
        when a.status = 'PENDING' then 'ATTACHMENT_NOT_READY'
        when a.status = 'ATTACHED' then 'ATTACHMENT_ALREADY_USED'
        when a.scan = 'REJECTED' then 'ATTACHMENT_REJECTED' end`;
const file = (id: string): string => `left join lateral (
      select status, scan, metadata, conversation_id, uploader_id, expires_at from attachments where id = ${id} limit 1) a
      on a.conversation_id = i."conversationId" and (not i."isUser" or a.uploader_id = i."senderId")`;
/** Of a batch in which no message has several. */
export const oneFile = {
  problems: raw(`when i."attachmentId" is not null and (${fileProblem}) is not null then ${fileProblem}`),
  joined: raw(file('i."attachmentId"')),
  attached: raw(`attached as (
    update attachments a set status = 'ATTACHED', message_id = m.id, expires_at = null
    from placed m where a.id = m.attachment_id),`),
};
/** The first of them that cannot be sent says why none is. What they note may take as much as one file may. */
export const manyFiles = {
  problems: sql`when i."attachmentId" is not null and files.problem is not null then files.problem
        when i."attachmentIds" is not null and files.noted > ${raw(String(notedMax))} then 'METADATA_TOO_LARGE'`,
  joined: raw(`left join lateral (
      select (array_agg(w.problem order by w.n) filter (where w.problem is not null))[1] as problem,
        sum(w.noted) as noted
      from (select f.n, ${fileProblem} as problem, octet_length(a.metadata::text) as noted
            from jsonb_array_elements_text(coalesce(i."attachmentIds", jsonb_build_array(i."attachmentId")))
              with ordinality f (id, n) ${file('f.id')}) w) files on true`),
  attached: sql`attached as (
    update attachments a set status = 'ATTACHED', message_id = m.id, expires_at = null
    from placed m cross join lateral ${filesOf('m')} f (id, n) where a.id = f.id),`,
};

/** All of them where there are several. */
export const idsOfFiles = raw(`case when n."attachmentIds" is not null
          then array(select jsonb_array_elements_text(n."attachmentIds")) end`);
