import type { Sql } from './sql.ts';

/**
 * What a query gives back, whichever database runs it: int2/int4/int8, float and numeric as number, bool as boolean,
 * json and jsonb parsed, timestamptz as an ISO string with milliseconds, date as `YYYY-MM-DD`, uuid and text as string,
 * bytea as Buffer, arrays as arrays, SQL null as null.
 */
export type Row = Record<string, unknown>;

export interface Reader {
  /** Rows of one statement. */
  query<T extends object = Row>(statement: Sql): Promise<T[]>;
}

export interface Queryable extends Reader {
  /** How many rows one statement touched. */
  execute(statement: Sql): Promise<number>;
}

/** One open transaction. Inside it use only this: on the embedded database a query on `Db` there waits forever. */
export interface Tx extends Queryable {
  readonly isTransaction: true;
}

export interface Db extends Queryable {
  /** Commits when `work` resolves, rolls back when it throws. Never awaits anything outside the database in between. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Several statements as one transaction and one trip: none waits for the answer of the one before it, and each sees
   * what was committed until it begins. Gives the rows of each, and none for a `Lock`.
   */
  batch(statements: readonly Sql[]): Promise<Row[][]>;
  /** Several statements in a text, without parameters; several texts one after the other in one session. Migrations only. */
  script(...texts: readonly string[]): Promise<void>;
  readonly dialect: 'postgres' | 'embedded';
  /** Round trip to the database, in milliseconds. Throws `DatabaseUnavailable` when there is none. */
  ping(): Promise<number>;
  close(): Promise<void>;
}

/** A server that follows the database, for reads alone. It may be behind, and it may be away. */
export interface Replica extends Reader {
  /** Rows that contain everything committed before the call; null when it has not replayed that within its patience. */
  queryCurrent<T extends object = Row>(statement: Sql): Promise<T[] | null>;
  /** The same of several statements in one session, none of which sees less than the one before it. */
  readCurrent<T>(work: (from: Reader) => Promise<T>, patienceMs: number): Promise<T | null>;
  /** How far it is. Throws `DatabaseUnavailable` when it does not answer, or follows another database. */
  look(): Promise<{ latencyMs: number; behindBytes: number }>;
  close(): Promise<void>;
}

/** The database did not answer: the caller gets 503 and may retry. Only adapters throw it. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
}

/** A constraint refused a write. Adapters translate the vendor's error into this. */
export class ConstraintViolation extends Error {
  override name = 'ConstraintViolation';
  readonly kind: 'unique' | 'foreignKey' | 'check' | 'notNull';
  readonly constraint: string;

  constructor(kind: ConstraintViolation['kind'], constraint: string, cause?: unknown) {
    super(`${kind} constraint ${constraint}`, { cause });
    this.kind = kind;
    this.constraint = constraint;
  }
}

/** True when `error` says that the named unique index refused the row. */
export const isDuplicate = (error: unknown, constraint: string): boolean =>
  error instanceof ConstraintViolation && error.kind === 'unique' && error.constraint === constraint;
