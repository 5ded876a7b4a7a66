import pg from 'pg';

interface BatchStatement {
  name: string | undefined;
  text: string;
  values: readonly unknown[];
  /** Its rows are of no use: they need no description. */
  isLock: boolean;
}

/** What `pg` gives a query of one's own; its types leave out the names it keeps. */
type Wire = pg.Connection & { parsedStatements: Record<string, string> };

interface ResultBuilder extends pg.QueryResult {
  addFields(fields: unknown): void;
  parseRow(fields: unknown): pg.QueryResultRow;
  addRow(row: pg.QueryResultRow): void;
  addCommandComplete(message: unknown): void;
}

/** What the statements of a session give back, by their names: a name's plan, and so its columns, stay while it does. */
export type Descriptions = WeakMap<pg.Connection, Map<string, unknown>>;

const Result = pg.Result as unknown as new (rowMode: undefined, types: pg.CustomTypesConfig) => ResultBuilder;

/**
 * Several statements in one write, with one Sync at their end: PostgreSQL runs them as one transaction and takes a new
 * snapshot for each, so that a second statement sees what was committed while the first waited for its locks.
 */
export class BatchQuery implements pg.Submittable {
  readonly answer: Promise<pg.QueryResult[]>;
  /** Names that this batch made. When it fails it is unknown which of them exist. */
  readonly fresh: BatchStatement[] = [];
  readonly #statements: readonly BatchStatement[];
  readonly #results: ResultBuilder[];
  readonly #settle = Promise.withResolvers<pg.QueryResult[]>();
  readonly #descriptions: Descriptions;
  #known = new Map<string, unknown>();
  #at = 0;

  constructor(statements: readonly BatchStatement[], types: pg.CustomTypesConfig, descriptions: Descriptions) {
    this.#statements = statements;
    this.#descriptions = descriptions;
    this.#results = statements.map(() => new Result(undefined, types));
    this.answer = this.#settle.promise;
  }

  submit(connection: pg.Connection): void {
    const wire = connection as Wire;
    this.#known = this.#descriptions.get(connection) ?? this.#known;
    this.#descriptions.set(connection, this.#known);
    wire.stream.cork();
    for (const [at, statement] of this.#statements.entries()) {
      const { name, text, values, isLock } = statement;
      if (name === undefined || wire.parsedStatements[name] === undefined) {
        wire.parse({ name: name ?? '', text, types: [] }, true);
        if (name !== undefined) this.fresh.push(statement);
      }
      // `encodeValue` has made every value something the wire takes.
      wire.bind({ portal: '', statement: name ?? '', values: [...values] as never }, true);
      const fields = name === undefined ? undefined : this.#known.get(name);
      if (fields !== undefined) this.#results[at]?.addFields(fields);
      else if (!isLock) wire.describe({ type: 'P', name: '' }, true);
      wire.execute({ portal: '' }, true);
    }
    wire.sync();
    wire.stream.uncork();
  }

  handleRowDescription({ fields }: { fields: unknown }): void {
    this.#results[this.#at]?.addFields(fields);
    const name = this.#statements[this.#at]?.name;
    if (name !== undefined) this.#known.set(name, fields);
  }

  handleDataRow({ fields }: { fields: unknown }): void {
    if (this.#statements[this.#at]?.isLock) return;
    const result = this.#results[this.#at];
    result?.addRow(result.parseRow(fields));
  }

  handleCommandComplete(message: unknown): void {
    this.#results[this.#at]?.addCommandComplete(message);
    this.#at += 1;
  }

  handleError(error: unknown): void {
    this.#settle.reject(error);
  }

  handleReadyForQuery(connection: pg.Connection): void {
    for (const { name, text } of this.fresh) if (name) (connection as Wire).parsedStatements[name] = text;
    this.#settle.resolve(this.#results);
  }
}
