import type { ForwardedFrom, Message, MessageType, Poll } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Db } from '../../../core/db.ts';
import type { DispatchedOnInsert } from '../../../core/event-store.ts';
import { empty, join, json, raw, type Sql, sql, statements } from '../../../core/sql.ts';
import { idsOfFiles, manyFiles, oneFile } from '../attachments/file-sends-store.ts';
import { isSilenced } from '../blocks/block-store.ts';
import { lockConversations } from '../conversations/conversation-store.ts';
import { mentionSends } from '../mentions/mention-sends-store.ts';
import type { StoredMentions } from '../mentions/mention-store.ts';
import { intoShadow, shadowProblems } from '../shadow/shadow-sends-store.ts';
import { newMessageText } from './json-store.ts';
import type { References, SendWay, Shape } from './send-way-store.ts';

/** One message to be stored. Everything that needs no look at the database has been checked. */
export interface SendItem {
  scope: ProjectScope;
  /** The API key behind the sender. */
  keyId: string | null;
  /** The name the conversation was found by; it may have been renamed since. */
  name: string | null;
  conversationId: string;
  publicId: string;
  eventId: string;
  /** Set where it mentions somebody. */
  mentionEventId: string | undefined;
  /** The sender is a user with a token, not a server: rules of membership apply. */
  isUser: boolean;
  /** Of a direct conversation, where blocks hold. */
  isDirect: boolean;
  /** The sender is known to have been in the shadow. */
  isOnceShadowed?: boolean;
  draft: Draft;
}

/** The fields a draft does not have are left out. */
export interface Draft {
  id: string;
  type: MessageType;
  text: string | undefined;
  senderId: string | undefined;
  replyTo: string | undefined;
  clientMessageId: string | undefined;
  attachmentId: string | undefined;
  /** All of them where there are several; the first is `attachmentId`. */
  attachmentIds: readonly string[] | undefined;
  metadata: Message['metadata'] | undefined;
  clientSentAt: number | undefined;
  createdAt: string;
  mentions: StoredMentions | undefined;
  /** The link that wants a preview. */
  link: string | undefined;
  poll: Poll | undefined;
  pollClosesAt: string | undefined;
  forwarded: ForwardedFrom | undefined;
}

export type SendProblem =
  | 'GONE'
  /** It is for the sender alone, and to be stored there. */
  | 'SHADOWED'
  /** By one who was in the shadow: to be sent again, and said so. */
  | 'ONCE_SHADOWED'
  | 'NOT_A_MEMBER'
  | 'FORBIDDEN'
  | 'MUTED'
  | 'BLOCKED'
  | 'SLOW'
  | 'SLOW_BESIDE'
  | 'ARCHIVED'
  | 'INVALID_REPLY_TARGET'
  | 'ATTACHMENT_NOT_FOUND'
  | 'ATTACHMENT_NOT_READY'
  | 'ATTACHMENT_ALREADY_USED'
  | 'ATTACHMENT_REJECTED'
  | 'METADATA_TOO_LARGE'
  | 'MENTION_FORBIDDEN'
  | 'UNKNOWN_MENTIONS'
  | 'POLL_OVER';

/** A message as it was stored. */
export interface Stored {
  /** As JSON. */
  record: string;
  seq: number;
  change: number;
  /** Its event was stored as dispatched: no endpoint waits for it. */
  isDispatched: boolean;
}

export type SendOutcome =
  | { is: 'stored'; stored: Stored }
  | { is: 'repeated'; position: number }
  /** Of one that is the sender's alone. */
  | { is: 'repeatedInShadow'; n: number }
  /** `nonMembers`: whom it mentions and who never were members. */
  | { is: 'refused'; problem: SendProblem; nonMembers?: readonly string[] };

type OutcomeRow = { at: number } & (
  | ({ problem: null } & Stored)
  | { problem: 'REPEATED'; change: number }
  | { problem: 'REPEATED_IN_SHADOW'; change: number }
  | { problem: SendProblem; record: string | null }
);

/**
 * Stores a batch of messages with their events; all or nothing. Conversations are locked first and in the order of
 * their ids, so that two batches cannot deadlock, and the statement after it sees everything that was committed while
 * the locks were waited for: that is what makes repeats, membership and attachments exact.
 */
export function createStoreMessages(
  { db, dispatchedOnInsert }: { db: Db; dispatchedOnInsert: DispatchedOnInsert },
  { inShadow }: { inShadow: boolean } = { inShadow: false },
) {
  const insertBatch = createInsertBatch(dispatchedOnInsert, inShadow);
  return async (items: readonly SendItem[]): Promise<SendOutcome[]> => {
    const lock = lockConversations(items.map((item) => item.conversationId));
    const [, rows = []] = await db.batch([lock, insertBatch(items)]);
    // The statement says what its rows are.
    const byPlace = new Map((rows as OutcomeRow[]).map((row) => [row.at, row]));
    return items.map((_item, at) => outcomeOf(byPlace.get(at)));
  };
}

/** A longer one is made when it is read: the row would no longer fit where rows are read fastest. */
const recordBytesMax = 1_200;

/** The expression of the index `messages_client_key`: no two pairs of sender and id give the same text. */
function clientKey(conversation: string, sender: string, id: string): string {
  const from = `coalesce(${sender}, '')`;
  return `(${conversation}::text || length(${from})::text || ':' || ${from} || ${id})`;
}

/** The message that a client has sent with its own id, which are columns at hand: its id and position. */
export const sentWith = (conversation: string, sender: string, id: string): Sql =>
  raw(`(select id, position from messages where client_message_id is not null
    and ${clientKey('conversation_id', 'sender_id', 'client_message_id')} = ${clientKey(conversation, sender, id)} limit 1)`);

function createInsertBatch(
  dispatchedOnInsert: DispatchedOnInsert,
  inShadow: boolean,
): (items: readonly SendItem[]) => Sql {
  const statement = insertStatement(dispatchedOnInsert);
  return (items) => {
    const isLone = items.length === 1;
    const shape = {
      inShadow,
      isOnceShadowed: items.some((item) => item.isOnceShadowed),
      isLone,
      isDirect: items.some(({ isDirect }) => isDirect),
      isCrowded: !isLone && isCrowded(items),
      messages: items.some(({ draft }) => draft.replyTo !== undefined),
      files: items.some(({ draft }) => draft.attachmentId !== undefined),
      manyFiles: items.some(({ draft }) => draft.attachmentIds !== undefined),
      mentions: items.some(({ draft }) => draft.mentions !== undefined),
      links: !inShadow && items.some(({ draft }) => draft.link !== undefined),
      extras: items.some(({ draft }) => draft.poll !== undefined || draft.forwarded !== undefined),
    };
    const inputs = items.map(inputOf);
    return statement(shape, isLone ? { ...inputs[0], ...jsonOfLone(items[0]?.draft) } : { items: json(inputs) });
  };
}

const jsonOfLone = (draft: Draft | undefined): Partial<Input> => ({
  metadata: json(draft?.metadata ?? {}),
  attachmentIds: draft?.attachmentIds && json(draft.attachmentIds),
  mentions: draft?.mentions && json(draft.mentions),
  poll: draft?.poll && json(draft.poll),
  forwarded: draft?.forwarded && json(draft.forwarded),
});

const inputOf = (item: SendItem, at: number): Input => {
  const { conversationId, name, eventId, mentionEventId, isUser, draft } = item;
  return { at, eventId, mentionEventId, conversationId, name: name ?? undefined, isUser, ...draft };
};
function isCrowded(items: readonly SendItem[]): boolean {
  const seen = new Set<string>();
  for (const { isUser, conversationId, draft } of items) {
    if (!isUser) continue;
    const key = `${conversationId} ${draft.senderId}`;
    if (seen.has(key)) return true;
    seen.add(key);
  }
  return false;
}

const blockProblem = sql`when i."isUser" and ${isSilenced} then 'BLOCKED'`;
/** Moderators are exempt, and guests do not send. */
const isSlow = `i."isUser" and c.slow_mode_seconds > 0 and p.role = 'MEMBER'`;
const slowProblem = raw(`when ${isSlow}
          and p.last_sent_at > i."createdAt"::timestamptz - make_interval(secs => c.slow_mode_seconds) then 'SLOW'`);
const besideProblem = raw(`when ${isSlow} and exists (
          select from input j where j."isUser" and j."conversationId" = i."conversationId"
            and j."senderId" = i."senderId" and j.at < i.at) then 'SLOW_BESIDE'`);

const replyProblems = raw(
  `when i."replyTo" is not null and (r.id is null or r.deleted_at is not null) then 'INVALID_REPLY_TARGET'`,
);
const replyTarget = raw(`left join lateral (
      select id, conversation_id, thread_root_id, deleted_at from messages where id = i."replyTo" limit 1) r
      on r.conversation_id = i."conversationId"`);
const replied = raw(`replied as (
    update messages root set reply_count = root.reply_count + t.total, last_reply_at = t.last_at
    from (select thread_root_id as id, count(*) as total, max(created_at) as last_at from placed
          where thread_root_id is not null group by thread_root_id) t
    where root.id = t.id),`);

const linked = raw(`linked as (
    insert into link_previews (message_id, conversation_id, url, due_at)
    select id, conversation_id, link, created_at from placed where link is not null),`);

const pollProblems = raw(`when i."pollClosesAt"::timestamptz <= i."createdAt"::timestamptz then 'POLL_OVER'`);

/** What a statement is given of a message, and the type of each. */
const columns = {
  at: 'int',
  eventId: 'text',
  conversationId: 'uuid',
  name: 'text',
  isUser: 'boolean',
  id: 'text',
  type: 'text',
  text: 'text',
  senderId: 'text',
  replyTo: 'text',
  clientMessageId: 'text',
  attachmentId: 'text',
  attachmentIds: 'jsonb',
  metadata: 'jsonb',
  clientSentAt: 'double precision',
  createdAt: 'text',
  mentions: 'jsonb',
  mentionEventId: 'text',
  link: 'text',
  poll: 'jsonb',
  pollClosesAt: 'text',
  forwarded: 'jsonb',
} as const;
/** Columns that most batches have no use for. */
const columnsOf = {
  mentions: ['mentions', 'mentionEventId'],
  manyFiles: ['attachmentIds'],
  links: ['link'],
  extras: ['poll', 'pollClosesAt', 'forwarded'],
} as const;
type Wanted = Pick<References, keyof typeof columnsOf>;
type Input = { [Name in keyof typeof columns]: unknown };
/** A message by its fields, or several as a list. */
type Values = Partial<Input> & { items?: string };

function eachColumn(wanted: Wanted, write: (name: keyof Input, type: string) => Sql): Sql {
  const left = (['mentions', 'manyFiles', 'links', 'extras'] as const).flatMap((part): readonly string[] =>
    wanted[part] ? [] : columnsOf[part],
  );
  return join(
    Object.entries(columns)
      .filter(([name]) => !left.includes(name))
      .map(([name, type]) => write(name as keyof Input, type)),
  );
}
const listInput = (wanted: Wanted, at: (name: keyof Values) => unknown): Sql =>
  sql`select * from jsonb_to_recordset(${at('items')}::jsonb) as i (
    ${eachColumn(wanted, (name, type) => raw(`"${name}" ${type}`))})`;
const loneInput = (wanted: Wanted, at: (name: keyof Values) => unknown): Sql =>
  sql`select ${eachColumn(wanted, (name, type) => sql`${at(name)}${raw(`::${type} as "${name}"`)}`)}`;

const totals = raw(`select "conversationId" as id, count(*) as total, max("createdAt")::timestamptz as last_at,
                 (array_agg(id order by at desc))[1] as last_id
          from numbered group by "conversationId"`);
const loneTotal = raw(`select "conversationId" as id, 1 as total, "createdAt"::timestamptz as last_at, id as last_id
          from numbered`);
const lastOfSenders = raw(`select distinct on (conversation_id, sender_id) * from placed where sender_id is not null
          order by conversation_id, sender_id, seq desc`);

const forAll: SendWay = {
  repeatedAt: raw('d.position'),
  problems: ({ isOnceShadowed }) => (isOnceShadowed ? shadowProblems.ofOnceShadowed : shadowProblems.ofSender),
  replyProblems: shadowProblems.ofReply,
  repeats: empty,
  replyTarget,
  bumped: ({ isLone }) => sql`bumped as (
    update conversations c set last_seq = c.last_seq + b.total, last_change = c.last_change + b.total,
      message_count = c.message_count + b.total, last_position = c.last_change + b.total,
      last_message_id = b.last_id, last_message_at = b.last_at, has_dormant = false
    from (${isLone ? loneTotal : totals}) b
    where c.id = b.id
    returning c.id, c.last_seq - b.total as seq, c.last_change - b.total as change),`,
  numbers: raw('b.change + n.n as position, b.seq + n.n as seq, b.change + n.n as change'),
  times: raw('n."createdAt" as created_text, n."createdAt"::timestamptz as created_at'),
  stored: ({ isLone, messages, mentions, links, manyFiles, extras }) => sql`stored as (
    insert into messages (conversation_id, position, seq, change, id, type, text, sender_id, sender_role, reply_to,
      thread_root_id, client_message_id, attachment_id, metadata, client_sent_at, created_at,
      ${manyFiles ? raw('attachment_ids, ') : empty}${mentions ? raw('mentions, ') : empty}${extras ? raw('poll, poll_closes_at, forwarded, ') : empty}record)
    select conversation_id, position, seq, change, id, type, text, sender_id, sender_role, reply_to, thread_root_id,
      client_message_id, attachment_id, metadata, client_sent_at, created_at,
      ${manyFiles ? raw('attachment_ids,') : empty} ${mentions ? raw('mentions,') : empty}
      ${extras ? raw('poll, poll_closes_at, forwarded,') : empty}
      case when octet_length(record) <= ${raw(String(recordBytesMax))} then record end
    from placed),
  unsearched as (
    insert into search_pending (conversation_id, position)
    select conversation_id, position from placed where text is not null),
  ${messages ? replied : empty}
  ${mentions ? mentionSends.inserts : empty}
  ${links ? linked : empty}
  seen as (
    update conversation_members p set last_read_seq = s.seq, last_read_position = s.position,
      last_read_message_id = s.id, last_read_at = s.created_at, last_sent_at = s.created_at, dormant = false
    from (${isLone ? raw('select * from placed') : lastOfSenders}) s
    where p.conversation_id = s.conversation_id and p.user_id = s.sender_id and p.last_read_seq < s.seq),
  recorded as (
    insert into events (id, project_id, environment, type, topic, data, created_at, dispatched_at)
    select "eventId", project_id, environment, 'message.created', 'chat/' || public_id,
      concat('{"conversationId":"', public_id, '","roomId":', coalesce(to_json(room_id)::text, 'null'),
        ',"change":', change, ',"message":', record, '}'),
      created_at, case when is_dispatched then created_at end
    from placed)`,
};

/**
 * What a draft refers to is looked up row by row and by one index alone (`lateral … limit 1`, the other conditions
 * outside): the plan is made once a session, often while the tables are still empty, and must be good when they are not.
 */
const insertStatement = (dispatchedOnInsert: DispatchedOnInsert) =>
  statements<Shape, Values>((shape, at) => {
    const { inShadow, isOnceShadowed, isLone, isDirect, isCrowded, ...wanted } = shape;
    const { messages, files, mentions, extras } = wanted;
    const way = inShadow ? intoShadow : forAll;
    const filed = wanted.manyFiles ? manyFiles : oneFile;
    return sql`
  with input as (${isLone ? loneInput(wanted, at) : listInput(wanted, at)}),
  checked as materialized (
    select i.*, c.public_id, c.project_id, c.environment, c.room_id, p.role, ${way.repeatedAt} as repeats,${mentions ? raw(' w.*,') : empty}
      ${messages ? raw('coalesce(r.thread_root_id, r.id)') : raw('null::text')} as root_id,
      case
        when c.id is null or c.status = 'DELETED' or c.name <> i.name then 'GONE'
        when i."isUser" and p.role is null then 'NOT_A_MEMBER'
        when i."isUser" and p.role = 'GUEST' then 'FORBIDDEN'
        when d.position is not null then 'REPEATED'
        ${way.problems(shape)}
        when i."isUser" and p.silenced_until > i."createdAt"::timestamptz then 'MUTED'
        ${isDirect ? blockProblem : empty}
        when c.status <> 'ACTIVE' then 'ARCHIVED'
        ${slowProblem}
        ${isCrowded ? besideProblem : empty}
        ${messages ? sql`${way.replyProblems} ${replyProblems}` : empty}
        ${files ? filed.problems : empty}
        ${mentions ? mentionSends.problems : empty}
        ${extras ? pollProblems : empty}
      end as problem
    from input i
    left join lateral (
      select id, public_id, project_id, environment, room_id, status, name, slow_mode_seconds, type
      from conversations
      where id = i."conversationId" limit 1) c on true
    left join lateral (
      select role, active, silenced_until, shadowed_until, last_sent_at from conversation_members
      where conversation_id = i."conversationId" and user_id = i."senderId" limit 1) p on p.active
    left join lateral ${sentWith('i."conversationId"', 'i."senderId"', 'i."clientMessageId"')} d on true
    ${way.repeats}
    ${messages ? way.replyTarget : empty}
    ${files ? filed.joined : empty}
    ${mentions ? mentionSends.members : empty}),
  numbered as (
    select *, ${isLone ? raw('1') : raw('row_number() over (partition by "conversationId" order by at)')} as n
    from checked where problem is null),
  ${way.bumped(shape)}
  placed as materialized (
    select m.*, ${newMessageText({ messages, files, mentions, extras })} as record, ${dispatchedOnInsert('m.project_id', 'm.environment')} as is_dispatched
    from (
      select n.at, n."eventId", n.public_id, n.project_id, n.environment, n.room_id,
        n."conversationId" as conversation_id, ${way.numbers},
        n.id, n.type, n.text, n."senderId" as sender_id, n.role as sender_role, n."replyTo" as reply_to,
        n.root_id as thread_root_id,
        n."clientMessageId" as client_message_id, ${files ? raw('n."attachmentId"') : raw('null::text')} as attachment_id, ${wanted.manyFiles ? idsOfFiles : raw('null::text[]')} as attachment_ids,
        coalesce(n.metadata, '{}') as metadata, n."clientSentAt" as client_sent_at,
        ${mentions ? mentionSends.stored : empty} ${wanted.links ? raw('n.link,') : empty}
        ${extras ? raw('n.poll, n."pollClosesAt"::timestamptz as poll_closes_at, n.forwarded,') : empty}
        ${way.times}, null::timestamptz as deleted_at
      from numbered n join bumped b on b.id = n."conversationId") m
    cross join lateral (select m.public_id) c),
  ${files ? filed.attached : empty}
  ${way.stored(shape)}
  select at, null as problem, change, seq, record, is_dispatched as "isDispatched" from placed
  union all
  select at, problem, repeats, null, ${raw(mentions ? 'non_members::text' : 'null')}, null from checked where problem is not null`;
  });

function outcomeOf(row: OutcomeRow | undefined): SendOutcome {
  if (!row) throw new Error('a message of the batch has no outcome');
  if (row.problem === null) return { is: 'stored', stored: row };
  if (row.problem === 'REPEATED') return { is: 'repeated', position: row.change };
  if (row.problem === 'REPEATED_IN_SHADOW') return { is: 'repeatedInShadow', n: row.change };
  const { problem, record } = row;
  return { is: 'refused', problem, ...(record === null ? {} : { nonMembers: JSON.parse(record) }) };
}
