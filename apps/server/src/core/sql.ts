/** A statement and its values, built by the `sql` tag; values never become part of the text. */
export class Sql {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];

  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings;
    this.values = values;
  }

  /** The text with `$1…$n` placeholders. */
  get text(): string {
    return this.strings.reduce((text, part, index) => `${text}$${index}${part}`);
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

/** A value for a `jsonb` parameter. */
export const json = (value: unknown): string => JSON.stringify(value);
