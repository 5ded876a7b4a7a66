/** How the server and a media node read their variables: a setting is a parser and its row in the reference. */

/** The least of a secret that signs, or that a media node presents. */
export const secretBytesMin = 32;

/** What the reference says about one variable. */
export interface SettingRow {
  name: string;
  /** What may be given: `port`, `true or false`, … */
  takes: string;
  /** What holds without it. */
  default: string;
  means: string;
  /** Never printed, and guarded like one: see `secret`. */
  isSecret: boolean;
}

/** The variables of one process, while they are read. */
export interface Source {
  isProduction: boolean;
  /** The text of a variable, or null when it is unset or blank. */
  text(name: string): string | null;
  /** Collects a sentence that names its variable. The same sentence twice is one problem. */
  report(problem: string): void;
}

/** Something that is read from variables: one of them, or several that belong together. */
export interface Setting<T> {
  rows: readonly SettingRow[];
  read(source: Source): T;
}

export type ValueOf<S> = S extends Setting<infer T> ? T : never;

export interface About<D> {
  means: string;
  /** The default; null when left out. */
  default?: D | ((source: Source) => D);
  /** What holds in production instead. */
  inProduction?: D;
  /** The default in words, where the value does not say it. */
  defaultText?: string;
  /** What is used while it is unset. */
  without?: string;
  isRequiredInProduction?: boolean;
  isSecret?: boolean;
}

export interface Kind<T> {
  takes: string;
  parse(given: string, name: string, source: Source): T;
}

export function setting<T, D = null>(name: string, { takes, parse }: Kind<T>, about: About<D>): Setting<T | D> {
  const fallback = (source: Source): D => {
    if (source.isProduction && about.inProduction !== undefined) return about.inProduction;
    // Without a default `D` is inferred as null.
    return (isFunction(about.default) ? about.default(source) : (about.default ?? null)) as D;
  };
  return {
    rows: [{ name, takes, default: defaultText(about), means: about.means, isSecret: about.isSecret ?? false }],
    read(source) {
      const given = source.text(name);
      if (given !== null) return parse(given, name, source);
      if (source.isProduction && about.isRequiredInProduction) source.report(`${name} must be set in production.`);
      return fallback(source);
    },
  };
}

const isFunction = <D>(value: D | ((source: Source) => D) | undefined): value is (source: Source) => D =>
  typeof value === 'function';

function defaultText<D>({
  defaultText: given,
  without,
  inProduction,
  isRequiredInProduction,
  ...about
}: About<D>): string {
  const parts = [given ?? (without === undefined ? wordsOf(about.default) : `unset: ${without}`)];
  if (inProduction !== undefined) parts.push(`${wordsOf(inProduction)} in production`);
  if (isRequiredInProduction) parts.push('required in production');
  return parts.join('; ');
}

const wordsOf = (value: unknown): string =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0) ? 'unset' : String(value);

export const text = <D extends string | null>(name: string, about: About<D>): Setting<string | D> =>
  setting(name, { takes: 'text', parse: (given) => given }, about);

/** The same variables, with something made of their value. */
export const mapped = <T, U>({ rows, read }: Setting<T>, map: (value: T, source: Source) => U): Setting<U> => ({
  rows,
  read: (source) => map(read(source), source),
});

type Fields = Readonly<Record<string, Setting<unknown>>>;
type ValuesOf<F extends Fields> = { [K in keyof F]: ValueOf<F[K]> };
type PresentOf<F extends Fields> = { [K in keyof F]: NonNullable<ValueOf<F[K]>> };

const rowsOf = (fields: Fields): SettingRow[] => Object.values(fields).flatMap(({ rows }) => rows);

/** An object with a field for each setting. */
export const record = <F extends Fields>(fields: F): Setting<ValuesOf<F>> => ({
  rows: rowsOf(fields),
  read: (source) =>
    // One entry for each field, read by that field's own setting.
    Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field.read(source)])) as ValuesOf<F>,
});

/** Settings that make sense only together: all of `needed` are set, or none and the whole is null. */
export function together<N extends Fields, E extends Fields>(
  needed: N,
  extra: E,
): Setting<(PresentOf<N> & ValuesOf<E>) | null> {
  return {
    rows: [...rowsOf(needed), ...rowsOf(extra)],
    read(source) {
      const names = rowsOf(needed).map(({ name }) => name);
      const missing = names.filter((name) => source.text(name) === null);
      const extras = record(extra).read(source);
      if (missing.length === names.length) return null;
      const given = names.filter((name) => !missing.includes(name));
      if (missing.length > 0) source.report(`${missing.join(', ')} must be set together with ${given.join(', ')}.`);
      // None is null: a missing one has just been reported.
      return { ...(record(needed).read(source) as PresentOf<N>), ...extras };
    },
  };
}
