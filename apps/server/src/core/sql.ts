/** A statement and its values, built by the `sql` tag; values never become part of the text. */
export class Sql {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
  #text: string | undefined;

  constructor(strings: readonly string[], values: readonly unknown[], text?: string) {
    this.strings = strings;
    this.values = values;
    this.#text = text;
  }

  /** The text with `$1…$n` placeholders. */
  get text(): string {
    this.#text ??= this.strings.reduce((text, part, index) => `${text}$${index}${part}`);
    return this.#text;
  }
}

/** Only locks rows for the rest of its batch: nothing to a database that does one batch at a time. */
export class Lock extends Sql {
  static of({ strings, values }: Sql): Lock {
    return new Lock(strings, values);
  }
}

/** Tagged template for SQL. Nested `Sql` values are spliced in, everything else becomes a parameter. */
export function sql(parts: TemplateStringsArray, ...inputs: readonly unknown[]): Sql {
  const strings: string[] = [parts[0] ?? ''];
  const values: unknown[] = [];
  inputs.forEach((input, index) => {
    const after = parts[index + 1] ?? '';
    if (input instanceof Sql) {
      const [first = '', ...rest] = input.strings;
      strings.push(`${strings.pop()}${first}`, ...rest);
      strings.push(`${strings.pop()}${after}`);
      values.push(...input.values);
    } else {
      values.push(input);
      strings.push(after);
    }
  });
  return new Sql(strings, values);
}

/** Joins fragments: `where ${join(conditions, ' and ')}`. */
export function join(fragments: readonly Sql[], separator = ', '): Sql {
  return fragments.reduce(
    (whole, fragment, index) => (index === 0 ? fragment : sql`${whole}${raw(separator)}${fragment}`),
    empty,
  );
}

/** Text from our own code (a column name, a keyword). Never give it anything a caller sent. */
export const raw = (text: string): Sql => new Sql([text], []);

export const empty: Sql = raw('');

/**
 * Rows that are given by value, such as `unnest(…) as of (id, name)`, and are few, so that what they name is gone to and
 * not looked for in a whole table: PostgreSQL plans a list as 10 or 100 rows and a limit it does not know as a tenth
 * (ADR 18).
 */
export const few = (rows: Sql, count: number): Sql =>
  sql`(select * from (select * from ${rows} limit ${count}) given limit ${count})`;

/** A value for a `jsonb` parameter. */
export const json = (value: unknown): string => JSON.stringify(value);

/** Where a value goes that is not known yet. */
class Place<Name> {
  readonly name: Name;

  constructor(name: Name) {
    this.name = name;
  }
}

/**
 * For long statements that are sent often: putting one together takes longer than sending it. `build` makes the text
 * once for each shape, with `at(name)` where a value goes.
 */
export function statements<Shape extends object, Values extends object>(
  build: (shape: Shape, at: (name: keyof Values) => unknown) => Sql,
): (shape: Shape, values: Values) => Sql {
  const built = new Map<string, Sql>();
  return (shape, values) => {
    const key = JSON.stringify(shape);
    const known = built.get(key) ?? build(shape, (name) => new Place(name));
    built.set(key, known);
    const given = known.values.map((value) =>
      value instanceof Place ? values[(value as Place<keyof Values>).name] : value,
    );
    return new Sql(known.strings, given, known.text);
  };
}
