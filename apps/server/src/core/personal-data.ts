import type { ProjectScope } from './caller.ts';

/** An end user of an environment, as the developer names them. */
export interface Person extends ProjectScope {
  userId: string;
}

/** A user who is being erased. */
export interface Erasure extends Person {
  /** What stands where the id has to stay: made at random, so nobody can find the way back. */
  pseudonym: string;
  /** What becomes of what they wrote. */
  messages: 'delete' | 'anonymize';
}

/** How far a walk through a table is; null at its beginning and at its end. */
export type Place = string | null;

/** One kind of thing that goes, some rows at a time. Doing it again finds nothing to do. */
export interface EraseStep {
  name: string;
  /** Goes on at `place`; `next` is null at the end. */
  run(erasure: Erasure, place: Place): Promise<{ touched: number; next: Place }>;
}

/** One kind of record that is handed out, page by page in the order of its keys. */
export interface ExportPart {
  kind: string;
  page(person: Person, place: Place, limit: number): Promise<{ rows: readonly object[]; next: Place }>;
}

/** What a domain stores of end users. */
export interface PersonalData {
  exports: readonly ExportPart[];
  erasures: readonly EraseStep[];
}

const batchMax = 500;

/** A step that needs no place: it takes the first rows until there are none. */
export const untilNone = (
  name: string,
  takeSome: (erasure: Erasure, limit: number) => Promise<number>,
  limit = batchMax,
): EraseStep => ({
  name,
  async run(erasure) {
    const touched = await takeSome(erasure, limit);
    return { touched, next: touched > 0 ? '' : null };
  },
});

/** The place behind the last row of a page; null when the page was not full. */
export const placeAfter = <Row>(rows: readonly Row[], limit: number, keyOf: (row: Row) => unknown): Place => {
  const last = rows.at(-1);
  return last === undefined || rows.length < limit ? null : JSON.stringify(keyOf(last));
};

/** Words of ours that a user id may look like. */
const ownWords = new Set(['type', 'status', 'role', 'senderRole', 'environment', 'kind', 'emoji', 'state']);

/** How the audit log names a user of chat. */
export const chatActor = (userId: string): string => `Chat user ${userId}`;

/** JSON in which the user is nobody any more: as a value, never as a name; of what they wrote nothing is left. */
export function withoutPerson(value: unknown, erasure: Erasure, name?: string): unknown {
  const { userId, pseudonym } = erasure;
  if (value === userId) return name !== undefined && ownWords.has(name) ? value : pseudonym;
  if (value === chatActor(userId)) return chatActor(pseudonym);
  if (Array.isArray(value)) return value.map((one) => withoutPerson(one, erasure, name));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries({ ...value, ...erasedFields(value, erasure) }).map(([key, one]) => [
      key,
      withoutPerson(one, erasure, key),
    ]),
  );
}

/** What goes from a record for whose it is: a message, a report, an entry of the audit log. */
function erasedFields(record: object, { userId, messages }: Erasure): object {
  const { senderId, reporterId, actorEmail } = record as Record<string, unknown>;
  const names = [
    ...(senderId === userId ? ['attachment', 'attachments', 'clientMessageId'] : []),
    ...(senderId === userId && messages === 'delete' ? ['text', 'metadata', 'linkPreview'] : []),
    ...(reporterId === userId ? ['note'] : []),
    ...(actorEmail === chatActor(userId) ? ['ipAddress', 'userAgent'] : []),
  ] as (keyof typeof gone)[];
  return Object.fromEntries(names.filter((name) => name in record).map((name) => [name, gone[name]]));
}

const gone = {
  attachment: null,
  attachments: [],
  linkPreview: undefined,
  clientMessageId: null,
  text: null,
  metadata: {},
  note: null,
  ipAddress: '',
  userAgent: null,
} as const;

/** How the id looks inside JSON: for a first look at many rows. */
export const needleOf = ({ userId }: Person): string => JSON.stringify(userId);
/** The same for what they did as a moderator. */
export const actorNeedleOf = ({ userId }: Person): string => JSON.stringify(chatActor(userId));
