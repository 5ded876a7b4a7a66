import { raw, type Sql, sql } from '../../core/sql.ts';

/** Records as JSON made by the database: what is read leaves as it came, without passing through objects of ours. */

/** ISO 8601 in UTC with milliseconds, as everywhere. */
const iso = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export const isoJson = (column: string): Sql => raw(iso(column));

/** The attachment of `m` in `c`, as it is once it is attached. */
const attachmentJson = sql`(select json_build_object('id', a.id, 'publicId', a.id, 'conversationId', c.public_id,
  'filename', a.filename, 'mimeType', a.mime_type, 'size', a.size, 'status', 'ATTACHED', 'uploaderId', a.uploader_id,
  'metadata', a.metadata, 'checksum', a.checksum, 'createdAt', ${isoJson('a.created_at')},
  'completedAt', ${isoJson('a.completed_at')}, 'messageId', m.id) from attachments a where a.id = m.attachment_id)`;

/** Reactions of one message by emoji, oldest emoji first; `reacted` only where the viewer is not null. */
export function reactionsJson(messageId: Sql, viewer: unknown): Sql {
  const reacted = viewer === null ? raw('') : sql`, 'reacted', bool_or(r.user_id = ${viewer})`;
  return sql`(select coalesce(json_agg(e.summary order by e.first, e.emoji), '[]') from (
    select r.emoji, min(r.created_at) as first, json_build_object('emoji', r.emoji, 'count', count(*),
           'userIds', (array_agg(r.user_id order by r.created_at, r.user_id))[1:10]${reacted}) as summary
    from reactions r where r.message_id = ${messageId} group by r.emoji) e)`;
}

// Written out as text: building an object of so many fields takes the database twice as long (ADR 0071).
const orNull = (text: string): Sql => raw(`coalesce(${text}, 'null')`);
/** For what anybody may have written. */
const quoted = (column: string): Sql => orNull(`to_json(${column})::text`);
/** For what holds no character that JSON would escape: our own ids, words of our own, times. */
const plain = (text: string): Sql => orNull(`'"' || ${text} || '"'`);

/**
 * One message of `messages m` in `conversations c`, as the text of a JSON object. The row of a deleted message holds no
 * content any more, so the same expression makes its tombstone.
 */
const madeNow = (viewer: unknown): Sql => sql`concat('{"id":"', m.id, '","publicId":"', m.id,
  '","conversationId":"', c.public_id, '","seq":', m.seq, ',"change":', m.change, ',"type":"', m.type,
  '","text":', ${quoted('m.text')}, ',"senderId":', ${quoted('m.sender_id')},
  ',"senderRole":', ${plain('m.sender_role')}, ',"replyTo":', ${plain('m.reply_to')},
  ',"threadRootId":', ${plain('m.thread_root_id')}, ',"replyCount":', m.reply_count,
  ',"lastReplyAt":', ${plain(iso('m.last_reply_at'))}, ',"clientMessageId":', ${quoted('m.client_message_id')},
  ',"attachmentId":', ${plain('m.attachment_id')}, ',"attachment":',
  case when m.attachment_id is not null and m.deleted_at is null then coalesce(${attachmentJson}::text, 'null') else 'null' end,
  ',"metadata":', m.metadata::text, ',"reactions":',
  case when m.reaction_count > 0 then ${reactionsJson(raw('m.id'), viewer)}::text else '[]' end,
  ',"edited":', case when m.edited_at is null then 'false' else 'true' end,
  ',"editedAt":', ${plain(iso('m.edited_at'))},
  ',"deleted":', case when m.deleted_at is null then 'false' else 'true' end,
  ',"deletedAt":', ${plain(iso('m.deleted_at'))}, ',"deletedBy":', ${quoted('m.deleted_by')},
  ',"clientSentAt":', coalesce(m.client_sent_at::text, 'null'), ',"createdAt":"', ${isoJson('m.created_at')},
  '","updatedAt":"', ${isoJson('coalesce(m.deleted_at, m.edited_at, m.created_at)')}, '"}')`;

/** As it is stored with a new message; whoever looks at it, since nobody has reacted yet. */
export const newMessageText: Sql = madeNow(null);

export const messageText = (viewer: unknown): Sql => sql`coalesce(m.record, ${madeNow(viewer)})`;

export const messageJson = (viewer: string | null): Sql => sql`${messageText(viewer)}::json`;
