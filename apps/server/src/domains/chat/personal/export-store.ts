import type { AttachmentScan, Message } from '@parley/contract';
import type { Queryable } from '../../../core/db.ts';
import { type Person, type Place, placeAfter } from '../../../core/personal-data.ts';
import { empty, sql } from '../../../core/sql.ts';
import { messageJson } from '../messages/json-store.ts';
import { walkConversations } from './walk-store.ts';

type Page<Row extends object = object> = Promise<{ rows: Row[]; next: Place }>;

export async function listProfile(db: Queryable, { projectId, environment, userId }: Person): Page {
  const rows = await db.query<object>(sql`
    select name, avatar_url as "avatarUrl", role, metadata, created_at as "createdAt", updated_at as "updatedAt"
    from chat_users where project_id = ${projectId} and environment = ${environment} and user_id = ${userId}`);
  return { rows, next: null };
}

/** With what the user has read. */
export async function listMemberships(db: Queryable, person: Person, place: Place): Page {
  const { rows: touched, next } = await walkConversations(db, person, place);
  const rows = await db.query<object>(sql`
    select c.public_id as "conversationId", c.name as "conversationName", p.role, p.metadata, p.active,
      p.joined_at as "joinedAt", p.removed_at as "removedAt", p.last_read_message_id as "lastReadMessageId",
      p.last_read_at as "lastReadAt", p.last_delivered_at as "lastDeliveredAt", p.muted_at as "mutedAt",
      p.muted_until as "mutedUntil", p.pinned_at as "pinnedAt"
    from conversation_members p join conversations c on c.id = p.conversation_id
    where p.conversation_id = any(${touched.map(({ id }) => id)}::uuid[]) and p.user_id = ${person.userId}`);
  return { rows, next };
}

interface MessagePlace {
  /** The walk of conversations, at whose page it is. */
  outer: Place;
  inner: [conversation: string, position: number] | null;
}

/** What the user sent, tombstones too. */
export async function listMessagesOf(db: Queryable, person: Person, place: Place, limit: number): Page {
  const { outer, inner }: MessagePlace = place === null ? { outer: null, inner: null } : JSON.parse(place);
  const { rows: touched, next } = await walkConversations(db, person, outer);
  const ids = touched.filter(({ hasMessages }) => hasMessages).map(({ id }) => id);
  const rows = await db.query<{ id: string; position: number; message: Pick<Message, 'reactions'> }>(sql`
    select m.conversation_id as id, m.position, ${messageJson(null)} as message
    from messages m join conversations c on c.id = m.conversation_id
    where m.conversation_id = any(${ids}::uuid[]) and m.sender_id = ${person.userId}
      ${inner ? sql`and (m.conversation_id, m.position) > (${inner[0]}::uuid, ${inner[1]})` : empty}
    order by m.conversation_id, m.position limit ${limit}`);
  const last = rows.length === limit ? rows.at(-1) : undefined;
  const onwards: MessagePlace | null = last
    ? { outer, inner: [last.id, last.position] }
    : next === null
      ? null
      : { outer: next, inner: null };
  return {
    rows: rows.map(({ message }) => nameless(message)),
    next: onwards === null ? null : JSON.stringify(onwards),
  };
}

/** Who reacted is not the sender's to hand out; their own reactions are lines of their own. */
const nameless = (message: Pick<Message, 'reactions'>): object => ({
  ...message,
  reactions: message.reactions.map(({ emoji, count }) => ({ emoji, count })),
});

/** What the user voted for; not what others did. */
export async function listVotesOf(
  db: Queryable,
  { projectId, environment, userId }: Person,
  place: Place,
  limit: number,
): Page {
  const rows = await db.query<{ messageId: string }>(sql`
    select c.public_id as "conversationId", v.message_id as "messageId", v.options as "optionIds", v.voted_at as "votedAt"
    from poll_votes v join conversations c on c.id = v.conversation_id
    where v.user_id = ${userId} and c.project_id = ${projectId} and c.environment = ${environment}
      and c.status <> 'DELETED' ${place === null ? empty : sql`and v.message_id > ${JSON.parse(place)}`}
    order by v.message_id limit ${limit}`);
  return { rows, next: placeAfter(rows, limit, ({ messageId }) => messageId) };
}

/** A file that the user uploaded, and where it lies. */
interface OwnFile {
  id: string;
  conversationId: string;
  filename: string;
  mimeType: string;
  size: number;
  status: string;
  scan: AttachmentScan | null;
  blobKey: string;
  environment: Person['environment'];
}

/** The user's files among the next rows of the table. */
export async function listFilesOf(
  db: Queryable,
  { projectId, environment, userId }: Person,
  place: Place,
  limit: number,
): Page<OwnFile> {
  const scanned = await db.query<OwnFile & { isOwn: boolean }>(sql`
    select a.id, c.public_id as "conversationId", a.filename, a.mime_type as "mimeType", a.size, a.status,
      a.metadata, a.checksum, a.media, a.scan, a.message_id as "messageId", a.created_at as "createdAt", a.blob_key as "blobKey",
      c.environment, a.uploader_id = ${userId} and a.status <> 'EXPIRED' as "isOwn"
    from (select * from attachments ${place === null ? empty : sql`where id > ${JSON.parse(place)}`}
          order by id limit ${limit}) a
    join conversations c on c.id = a.conversation_id
      and c.project_id = ${projectId} and c.environment = ${environment}
    order by a.id`);
  const [last] = await db.query<{ id: string }>(sql`
    select id from attachments ${place === null ? empty : sql`where id > ${JSON.parse(place)}`}
    order by id offset ${limit - 1} limit 1`);
  return { rows: scanned.filter(({ isOwn }) => isOwn), next: last ? JSON.stringify(last.id) : null };
}

export async function listConnectionsOf(
  db: Queryable,
  { projectId, environment, userId }: Person,
  place: Place,
  limit: number,
): Page {
  const rows = await db.query<{ id: string }>(sql`
    select id, connected_at as "connectedAt", disconnected_at as "disconnectedAt", close_code as "closeCode",
      subscriptions, messages_sent as "messagesSent", user_agent as "userAgent", ip
    from chat_connections
    where project_id = ${projectId} and environment = ${environment} and user_id = ${userId}
      ${place === null ? empty : sql`and id > ${JSON.parse(place)}::uuid`}
    order by id limit ${limit}`);
  return { rows, next: placeAfter(rows, limit, ({ id }) => id) };
}

/** Bans and mutes of the user. */
export async function listSanctionsOf(db: Queryable, { projectId, environment, userId }: Person): Page {
  const rows = await db.query<object>(sql`
    select kind as sanction, nullif(place, '') as "conversationUuid", until, reason, created_at as "createdAt"
    from chat_sanctions
    where project_id = ${projectId} and environment = ${environment} and user_id = ${userId} limit 10000`);
  return { rows, next: null };
}

/** Whom the user has blocked; not who blocked them. */
export async function listBlocksOf(
  db: Queryable,
  { projectId, environment, userId }: Person,
  place: Place,
  limit: number,
): Page {
  const rows = await db.query<{ blockedId: string }>(sql`
    select blocked_id as "blockedId", created_at as "createdAt" from chat_blocks
    where project_id = ${projectId} and environment = ${environment} and user_id = ${userId}
      ${place === null ? empty : sql`and blocked_id > ${JSON.parse(place)}`}
    order by blocked_id limit ${limit}`);
  return { rows, next: placeAfter(rows, limit, ({ blockedId }) => blockedId) };
}

/** What the user reported; not who reported them. */
export async function listReportsOf(
  db: Queryable,
  { projectId, environment, userId }: Person,
  place: Place,
  limit: number,
): Page {
  const rows = await db.query<{ id: string }>(sql`
    select id, conversation_id as "conversationId", message_id as "messageId", reason, note, status,
      created_at as "createdAt"
    from chat_reports
    where project_id = ${projectId} and environment = ${environment} and reporter_id = ${userId}
      ${place === null ? empty : sql`and id > ${JSON.parse(place)}`}
    order by id limit ${limit}`);
  return { rows, next: placeAfter(rows, limit, ({ id }) => id) };
}

export async function listScheduledOf(
  db: Queryable,
  { projectId, environment, userId }: Person,
  place: Place,
  limit: number,
): Page {
  const rows = await db.query<{ id: string }>(sql`
    select s.id, c.public_id as "conversationId", s.draft, s.send_at as "sendAt", s.status, s.created_at as "createdAt"
    from scheduled_messages s join conversations c on c.id = s.conversation_id
    where s.project_id = ${projectId} and s.environment = ${environment}
      and (s.user_id = ${userId} or s.draft->>'senderId' = ${userId})
      ${place === null ? empty : sql`and s.id > ${JSON.parse(place)}`}
    order by s.id limit ${limit}`);
  return { rows, next: placeAfter(rows, limit, ({ id }) => id) };
}

/** What the user has begun to write. */
export async function listDraftsOf(db: Queryable, person: Person, place: Place): Page {
  const { rows: touched, next } = await walkConversations(db, person, place);
  const rows = await db.query<object>(sql`
    select c.public_id as "conversationId", d.text, d.reply_to as "replyTo", d.metadata, d.updated_at as "updatedAt"
    from chat_drafts d join conversations c on c.id = d.conversation_id
    where d.conversation_id = any(${touched.map(({ id }) => id)}::uuid[]) and d.user_id = ${person.userId}`);
  return { rows, next };
}
