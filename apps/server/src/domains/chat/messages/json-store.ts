import { empty, raw, type Sql, sql } from '../../../core/sql.ts';

/** Records as JSON made by the database: what is read leaves as it came, without passing through objects of ours. */

/** ISO 8601 in UTC with milliseconds, as everywhere. */
const iso = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export const isoJson = (column: string): Sql => raw(iso(column));

/** A file `a` of `m` in `c`, as it is once it is attached. */
const fileJson = sql`json_build_object('id', a.id, 'publicId', a.id, 'conversationId', c.public_id,
  'filename', a.filename, 'mimeType', a.mime_type, 'size', a.size, 'status', 'ATTACHED', 'uploaderId', a.uploader_id,
  'metadata', a.metadata, 'checksum', a.checksum, 'createdAt', ${isoJson('a.created_at')},
  'completedAt', ${isoJson('a.completed_at')}, 'messageId', m.id, 'media', a.media, 'scan', a.scan)`;
/** The first file, and all of them as the field beside it: a subplan costs every page that has one, run or not. */
const filesText = sql`(select concat(coalesce(min(f.file) filter (where f.n = 1), 'null'), ',"attachments":[', string_agg(f.file, ',' order by f.n), ']')
  from (select ${fileJson}::text as file, f.n from ${filesOf('m')} f (id, n) join attachments a on a.id = f.id) f)`;

/** Every file of a message, in order: its id and place (ADR 0214). */
export function filesOf(message: string): Sql {
  const ids = `coalesce(${message}.attachment_ids, array[${message}.attachment_id])`;
  return raw(`unnest(${ids}) with ordinality`);
}

/** Reactions of one message by emoji, oldest emoji first; `reacted` only where the viewer is not null. */
export function reactionsJson(messageId: Sql, viewer: unknown): Sql {
  const reacted = viewer === null ? raw('') : sql`, 'reacted', bool_or(r.user_id = ${viewer})`;
  return sql`(select coalesce(json_agg(e.summary order by e.first, e.emoji), '[]') from (
    select r.emoji, min(r.created_at) as first, json_build_object('emoji', r.emoji, 'count', count(*),
           'userIds', (array_agg(r.user_id order by r.created_at, r.user_id))[1:10]${reacted}) as summary
    from reactions r where r.message_id = ${messageId} group by r.emoji) e)`;
}

/** For what is never null and holds no character that JSON would escape: our own ids, words of our own, times. */
const plain = (text: string): string => `'"' || ${text} || '"'`;
const orNull = (text: string): string => `coalesce(${text}, 'null')`;
/** For untrusted text. */
const quoted = (column: string): string => orNull(`to_json(${column})::text`);
const plainOrNull = (text: string): string => orNull(plain(text));

/** The fields of `messages m` in `conversations c`, each as the text of its JSON, in the order of the contract. */
const fieldsOf = (viewer: unknown) => ({
  id: raw(plain('m.id')),
  publicId: raw(plain('m.id')),
  conversationId: raw(plain('c.public_id')),
  seq: raw('m.seq'),
  change: raw('m.change'),
  type: raw(plain('m.type')),
  text: raw(quoted('m.text')),
  senderId: raw(quoted('m.sender_id')),
  senderRole: raw(plainOrNull('m.sender_role')),
  replyTo: raw(plainOrNull('m.reply_to')),
  threadRootId: raw(plainOrNull('m.thread_root_id')),
  replyCount: raw('m.reply_count'),
  lastReplyAt: raw(plainOrNull(iso('m.last_reply_at'))),
  clientMessageId: raw(quoted('m.client_message_id')),
  attachmentId: raw(plainOrNull('m.attachment_id')),
  // And after it `attachments`, where there are any.
  attachment: sql`case when m.attachment_id is not null and m.deleted_at is null
    then ${filesText} else 'null' end`,
  metadata: raw('m.metadata::text'),
  reactions: sql`case when m.reaction_count > 0 then ${reactionsJson(raw('m.id'), viewer)}::text else '[]' end`,
  edited: raw(`case when m.edited_at is null then 'false' else 'true' end`),
  editedAt: raw(plainOrNull(iso('m.edited_at'))),
  deleted: raw(`case when m.deleted_at is null then 'false' else 'true' end`),
  deletedAt: raw(plainOrNull(iso('m.deleted_at'))),
  deletedBy: raw(quoted('m.deleted_by')),
  clientSentAt: raw(orNull('m.client_sent_at::text')),
  createdAt: raw(plain(iso('m.created_at'))),
  updatedAt: raw(plain(iso('coalesce(m.deleted_at, m.edited_at, m.created_at)'))),
  // Who was present is kept to find their rows again, and is nobody's to read.
  mentions: raw(orNull(`(m.mentions - 'present')::text`)),
});

/** With what the viewer voted for, where they did. */
const pollText = (viewer: unknown): Sql =>
  viewer === null
    ? raw('m.poll::text')
    : sql`(m.poll || coalesce((select jsonb_build_object('ownVotes', v.options) from poll_votes v
        where v.message_id = m.id and v.user_id = ${viewer}), '{}'))::text`;

type Fields = ReturnType<typeof fieldsOf>;

/** What few messages have: left out of the others, so that those are no longer for it. */
const linkPreview = raw(`',"linkPreview":' || m.link_preview::text`);
const pollIfAny = (viewer: unknown): Sql =>
  sql`case when m.poll is not null and m.deleted_at is null then concat(',"poll":', ${pollText(viewer)}) end`;
const forwardedIfAny = raw(`case when m.deleted_at is null then ',"forwardedFrom":' || m.forwarded::text end`);

/** What is known of a message before its row is there; the time it was made comes as text. */
const newMessageFields = {
  replyCount: '0',
  lastReplyAt: 'null',
  reactions: '[]',
  edited: 'false',
  editedAt: 'null',
  deleted: 'false',
  deletedAt: 'null',
  deletedBy: 'null',
  createdAt: raw(plain('m.created_text')),
  updatedAt: raw(plain('m.created_text')),
} satisfies { [Name in keyof Fields]?: string | Sql };
const withoutAnswers = { replyTo: 'null', threadRootId: 'null' } satisfies { [Name in keyof Fields]?: string };
const withoutFiles = { attachmentId: 'null', attachment: 'null' } satisfies { [Name in keyof Fields]?: string };

const withoutMentions = { mentions: 'null' } satisfies { [Name in keyof Fields]?: string };

/**
 * A JSON object written out as text: building one of so many fields takes the database twice as long (ADR 0071). A field
 * that is a string is part of that text.
 */
function objectText(fields: Readonly<Record<string, string | Sql>>, rest: readonly Sql[]): Sql {
  let [before, literal] = [empty, '{'];
  for (const [at, [name, value]] of Object.entries(fields).entries()) {
    literal += `${at === 0 ? '' : ','}"${name}":`;
    if (typeof value === 'string') literal += value;
    else [before, literal] = [sql`${before}${raw(`'${literal}', `)}${value}, `, ''];
  }
  for (const part of rest) [before, literal] = [sql`${before}${raw(literal && `'${literal}', `)}${part}, `, ''];
  return sql`concat(${before}${raw(`'${literal}}'`)})`;
}

/** As it is stored with a new message: the same for every reader, since it has no reactions and votes yet. */
export const newMessageText = (refersTo: {
  messages: boolean;
  files: boolean;
  mentions: boolean;
  extras: boolean;
}): Sql =>
  objectText(
    {
      ...fieldsOf(null),
      ...newMessageFields,
      ...(refersTo.messages ? {} : withoutAnswers),
      ...(refersTo.files ? {} : withoutFiles),
      ...(refersTo.mentions ? {} : withoutMentions),
    },
    refersTo.extras ? [pollIfAny(null), forwardedIfAny] : [],
  );

/** The row of a deleted message holds no content, so the same expression makes its tombstone. */
const builtJson = (viewer: unknown): Sql =>
  objectText(fieldsOf(viewer), [linkPreview, pollIfAny(viewer), forwardedIfAny]);

export const messageText = (viewer: unknown): Sql => sql`coalesce(m.record, ${builtJson(viewer)})`;

export const messageJson = (viewer: string | null): Sql => sql`${messageText(viewer)}::json`;
