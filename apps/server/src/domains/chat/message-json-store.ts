import { raw, type Sql, sql } from '../../core/sql.ts';

/** Records as JSON made by the database: what is read leaves as it came, without passing through objects of ours. */

/** ISO 8601 in UTC with milliseconds, as everywhere. */
export const isoJson = (column: string): Sql =>
  raw(`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);

/** The attachment of `m` in `c`, as it is once it is attached. */
export const attachmentJson = sql`(select json_build_object('id', a.id, 'publicId', a.id, 'conversationId', c.public_id,
  'filename', a.filename, 'mimeType', a.mime_type, 'size', a.size, 'status', 'ATTACHED', 'uploaderId', a.uploader_id,
  'metadata', a.metadata, 'checksum', a.checksum, 'createdAt', ${isoJson('a.created_at')},
  'completedAt', ${isoJson('a.completed_at')}, 'messageId', m.id) from attachments a where a.id = m.attachment_id)`;

/** Reactions of one message by emoji, oldest emoji first; `reacted` only where there is a viewer. */
export function reactionsJson(messageId: Sql, viewer: string | null): Sql {
  const reacted = viewer === null ? raw('') : sql`, 'reacted', bool_or(r.user_id = ${viewer})`;
  return sql`(select coalesce(json_agg(e.summary order by e.first, e.emoji), '[]') from (
    select r.emoji, min(r.created_at) as first, json_build_object('emoji', r.emoji, 'count', count(*),
           'userIds', (array_agg(r.user_id order by r.created_at, r.user_id))[1:10]${reacted}) as summary
    from reactions r where r.message_id = ${messageId} group by r.emoji) e)`;
}

/**
 * One message of `messages m` in `conversations c`. The row of a deleted message holds no content any more, so the same
 * expression makes its tombstone.
 */
export const messageJson = (viewer: string | null): Sql => sql`json_build_object(
  'id', m.id, 'publicId', m.id, 'conversationId', c.public_id, 'seq', m.seq, 'change', m.change, 'type', m.type,
  'text', m.text, 'senderId', m.sender_id, 'senderRole', m.sender_role, 'replyTo', m.reply_to,
  'threadRootId', m.thread_root_id, 'replyCount', m.reply_count, 'lastReplyAt', ${isoJson('m.last_reply_at')},
  'clientMessageId', m.client_message_id, 'attachmentId', m.attachment_id,
  'attachment', case when m.attachment_id is not null and m.deleted_at is null then ${attachmentJson} end,
  'metadata', m.metadata,
  'reactions', case when m.reaction_count > 0 then ${reactionsJson(raw('m.id'), viewer)} else '[]'::json end,
  'edited', m.edited_at is not null, 'editedAt', ${isoJson('m.edited_at')},
  'deleted', m.deleted_at is not null, 'deletedAt', ${isoJson('m.deleted_at')}, 'deletedBy', m.deleted_by,
  'clientSentAt', m.client_sent_at, 'createdAt', ${isoJson('m.created_at')},
  'updatedAt', ${isoJson('coalesce(m.deleted_at, m.edited_at, m.created_at)')})`;
