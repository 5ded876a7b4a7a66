import { randomBytes } from 'node:crypto';
import type {
  ImportedConversation,
  ImportedMember,
  ImportedMessage,
  ImportedReaction,
  ImportedRead,
  ImportLine,
  Limits,
} from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Db, isDuplicate, type Tx } from '../../../core/db.ts';
import type { Ids } from '../../../core/ids.ts';
import { ownerOf, type Quotas } from '../../../core/quotas.ts';
import { topicOf } from '../live/change.ts';
import type { Hub } from '../live/hub.ts';
import {
  findKnown,
  type ImportMember,
  type ImportMessage,
  type ImportTarget,
  insertImported,
  insertImportedMembers,
  insertImportedMessages,
  insertImportedReactions,
  lockTarget,
  moveImportedMark,
  openImported,
} from './import-store.ts';
import { LineProblem, type NumberedLine, readLine } from './lines.ts';

interface ImportDeps {
  db: Db;
  quotas: Quotas;
  clock: Clock;
  ids: Ids;
  limits: Limits;
  hub: Pick<Hub, 'recover' | 'recount'>;
}

/** Histories from elsewhere. Ids come out of external ids, so what is there already is found, and nothing is added twice. */
export function createImporter({ db, quotas, clock, ids, limits, hub }: ImportDeps) {
  const conversationId = ({ projectId, environment }: ProjectScope, externalId: string): string =>
    ids.idOf('conversation', JSON.stringify(['import', projectId, environment, externalId]));
  const messageId = (conversation: string, externalId: string): string =>
    ids.idOf('message', JSON.stringify(['import', conversation, externalId]));

  async function addConversation(scope: ProjectScope, { line, record }: NumberedLine<ImportedConversation>) {
    const publicId = conversationId(scope, record.externalId);
    const at = iso(clock.now());
    const add = async (tx: Tx): Promise<void> => {
      const made = await insertImported(tx, scope, {
        id: ids.newUuid(),
        publicId,
        name: record.name,
        type: record.type ?? 'GROUP',
        retentionDays: record.retentionDays ?? null,
        metadata: record.metadata ?? {},
        epoch: randomBytes(6).toString('base64url'),
        createdAt: record.createdAt,
        at,
      });
      const target = await targetOf(tx, scope, line, publicId);
      await insertImportedMembers(tx, target.id, membersOf(record));
      if (made) await quotas.take(tx, 'CHAT_MAX_CONVERSATIONS', ownerOf(scope));
    };
    try {
      await db.transaction(add);
    } catch (error) {
      if (isDuplicate(error, 'conversations_name'))
        throw new LineProblem(line, `there is another conversation with the name ${record.name}.`);
      throw error;
    }
  }

  async function targetOf(tx: Tx, scope: ProjectScope, line: number, publicId: string): Promise<ImportTarget> {
    const target = await lockTarget(tx, scope, publicId);
    if (!target) throw new LineProblem(line, 'its conversation has no line before it.');
    if (target.status === 'DELETED')
      throw new LineProblem(line, 'its conversation was imported before and deleted since.');
    return target;
  }

  /** In the order of the lines, which must be that of the times: a history only grows at its end. */
  async function addMessages(tx: Tx, target: ImportTarget, lines: readonly NumberedLine<ImportedMessage>[]) {
    const idOf = (externalId: string): string => messageId(target.publicId, externalId);
    const asked = lines.flatMap(({ record }) => [record.externalId, ...(record.replyTo ? [record.replyTo] : [])]);
    const known = new Map((await findKnown(tx, target.id, asked.map(idOf))).map((one) => [one.id, one]));
    let last = target.lastMessageAt;
    const added: ImportMessage[] = [];
    for (const { line, record } of lines) {
      const id = idOf(record.externalId);
      if (known.has(id)) continue;
      const createdAt = iso(Date.parse(record.createdAt));
      if (last !== null && createdAt < last)
        throw new LineProblem(line, `it is older than the message before it in its conversation, of ${last}.`);
      last = createdAt;
      const answered = record.replyTo ? known.get(idOf(record.replyTo)) : undefined;
      if (record.replyTo && !answered) throw new LineProblem(line, 'what it answers has no line before it.');
      const threadRootId = answered ? (answered.threadRootId ?? answered.id) : null;
      const numbers = { seq: target.lastSeq + added.length + 1, position: target.lastChange + added.length + 1 };
      known.set(id, { id, threadRootId });
      const place = { id, externalId: record.externalId, ...numbers, replyTo: answered?.id ?? null, threadRootId };
      added.push({ ...place, ...contentOf(record), createdAt });
    }
    if (added.length > 0) await insertImportedMessages(tx, target.id, added);
  }

  async function addReactions(tx: Tx, target: ImportTarget, lines: readonly NumberedLine<ImportedReaction>[]) {
    const idOf = ({ message }: ImportedReaction): string => messageId(target.publicId, message);
    const reactions = lines.map(({ record }) => ({
      messageId: idOf(record),
      emoji: record.emoji,
      userId: record.userId,
      createdAt: record.createdAt ?? iso(clock.now()),
    }));
    const cap = limits.CHAT_MAX_REACTIONS_PER_MESSAGE;
    const refused = new Set(await insertImportedReactions(tx, target.id, reactions, cap));
    const problem = lines.find(({ record }) => refused.has(idOf(record)));
    if (problem)
      throw new LineProblem(
        problem.line,
        `its message has no line before it, is deleted, or has more than ${cap} reactions.`,
      );
  }

  async function addReads(tx: Tx, target: ImportTarget, lines: readonly NumberedLine<ImportedRead>[]) {
    for (const { line, record } of lines) {
      const mark = { userId: record.userId, messageId: messageId(target.publicId, record.message) };
      if (!(await moveImportedMark(tx, target.id, { ...mark, at: record.at ?? iso(clock.now()) })))
        throw new LineProblem(line, 'its member or its message has no line before it.');
    }
  }

  async function addMembers(tx: Tx, target: ImportTarget, lines: readonly NumberedLine<ImportedMember>[]) {
    const members = lines.map(({ record }) => memberOf(record, record.joinedAt ?? iso(clock.now())));
    await insertImportedMembers(tx, target.id, [...new Map(members.map((one) => [one.userId, one])).values()]);
  }

  /** Lines of one kind and conversation that follow each other: one transaction. */
  async function addRun(scope: ProjectScope, run: readonly NumberedLine[]): Promise<void> {
    const [first] = run;
    if (!first) return;
    if (first.record.kind === 'conversation') {
      for (const one of run) await addConversation(scope, one as NumberedLine<ImportedConversation>);
      return;
    }
    const { kind, conversation } = first.record;
    await db.transaction(async (tx) => {
      const target = await targetOf(tx, scope, first.line, conversationId(scope, conversation));
      if (kind === 'message') await addMessages(tx, target, run as NumberedLine<ImportedMessage>[]);
      else if (kind === 'reaction') await addReactions(tx, target, run as NumberedLine<ImportedReaction>[]);
      else if (kind === 'read') await addReads(tx, target, run as NumberedLine<ImportedRead>[]);
      else await addMembers(tx, target, run as NumberedLine<ImportedMember>[]);
    });
  }

  return {
    readLine: (bytes: Uint8Array, line: number): NumberedLine => readLine(bytes, line, limits, clock.now()),

    /** Writes some lines. What an import before this one wrote stays as it is. */
    async add(scope: ProjectScope, lines: readonly NumberedLine[]): Promise<void> {
      for (const run of runsOf(lines)) await addRun(scope, run);
    },

    /** The conversations of these lines can be written to from here on; who has one open gets what is new in it. */
    async open(scope: ProjectScope, lines: readonly ImportedConversation[]): Promise<void> {
      const idOf = ({ externalId }: ImportedConversation): string => conversationId(scope, externalId);
      const archived = lines.filter((one) => one.archived).map(idOf);
      const opened = await openImported(db, scope, lines.map(idOf), archived, iso(clock.now()));
      for (const { publicId, lastChange } of opened) {
        const { projectId, environment } = scope;
        const upTo = { topic: topicOf(publicId), type: 'message.created', data: { change: lastChange } } as const;
        hub.recover([{ id: '', projectId, environment, createdAt: '', ...upTo }]);
        hub.recount(publicId);
      }
    },
  };
}

/** Lines of one transaction: senders to the conversation wait for milliseconds at most. */
const runMax = 200;

/** Conversations by themselves; others as long as kind and conversation stay the same. */
function runsOf(lines: readonly NumberedLine[]): NumberedLine[][] {
  const keyOf = ({ kind, ...record }: ImportLine): string =>
    'conversation' in record ? JSON.stringify([kind, record.conversation]) : kind;
  const runs: NumberedLine[][] = [];
  let key: string | null = null;
  for (const one of lines) {
    const run = runs.at(-1);
    if (run && key === keyOf(one.record) && run.length < runMax) run.push(one);
    else runs.push([one]);
    key = keyOf(one.record);
  }
  return runs;
}

const memberOf = (
  { userId, role = 'MEMBER', metadata }: Pick<ImportedMember, 'userId' | 'role' | 'metadata'>,
  joinedAt: string,
): ImportMember => ({ userId, role, metadata: metadata ?? {}, joinedAt });

/** A bare text is a member with the default role; the last entry of a user counts. */
function membersOf({ members = [], createdAt }: ImportedConversation): ImportMember[] {
  const all = members.map((entry) => memberOf(typeof entry === 'string' ? { userId: entry } : entry, createdAt));
  return [...new Map(all.map((one) => [one.userId, one])).values()];
}

function contentOf({ type = 'text', text, senderId, metadata, editedAt, deletedAt }: ImportedMessage) {
  const isGone = Boolean(deletedAt);
  return {
    type,
    text: isGone ? null : (text ?? null),
    senderId: senderId ?? null,
    metadata: isGone ? {} : (metadata ?? {}),
    editedAt: editedAt ?? null,
    deletedAt: deletedAt ?? null,
  };
}
