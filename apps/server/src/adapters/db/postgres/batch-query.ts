import pg from 'pg';

interface BatchStatement {
  name: string | undefined;
  text: string;
  values: readonly unknown[];
}

/** What `pg` gives a query of one's own; its types leave out the names it keeps. */
type Wire = pg.Connection & { parsedStatements: Record<string, string> };

interface ResultBuilder extends pg.QueryResult {
  addFields(fields: unknown): void;
  parseRow(fields: unknown): pg.QueryResultRow;
  addRow(row: pg.QueryResultRow): void;
  addCommandComplete(message: unknown): void;
}

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
  #at = 0;

  constructor(statements: readonly BatchStatement[], types: pg.CustomTypesConfig) {
    this.#statements = statements;
    this.#results = statements.map(() => new Result(undefined, types));
    this.answer = this.#settle.promise;
  }

  submit(connection: pg.Connection): void {
    const wire = connection as Wire;
    wire.stream.cork();
    for (const statement of this.#statements) {
      const { name, text, values } = statement;
      if (name === undefined || wire.parsedStatements[name] === undefined) {
        wire.parse({ name: name ?? '', text, types: [] }, true);
        if (name !== undefined) this.fresh.push(statement);
      }
      // `encodeValue` has made every value something the wire takes.
      wire.bind({ portal: '', statement: name ?? '', values: [...values] as never }, true);
      wire.describe({ type: 'P', name: '' }, true);
      wire.execute({ portal: '' }, true);
    }
    wire.sync();
    wire.stream.uncork();
  }

  handleRowDescription({ fields }: { fields: unknown }): void {
    this.#results[this.#at]?.addFields(fields);
  }

  handleDataRow({ fields }: { fields: unknown }): void {
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
