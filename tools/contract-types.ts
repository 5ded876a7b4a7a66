/**
 * The contract's records as plain interfaces, without the schema library: what the SDKs are typed with. An editor shows
 * the fields of a record by its name, and a published package needs nothing else (ADR 127).
 */
import * as contract from '@parley/contract';
import { allEvents, allRoutes, paramNames, type RouteRow, splitAt } from '@parley/contract';

/** What of JSON Schema the contract uses. */
interface Schema {
  type?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  patternProperties?: Readonly<Record<string, Schema>>;
}

/** Exported schemas by what they are. Texts and numbers have no name worth knowing, and equal ones are told apart by none. */
function namedSchemas(): Map<string, string> {
  const named = new Map<string, string>();
  const ambiguous = new Set<string>();
  for (const [name, value] of Object.entries(contract)) {
    if (!/^[A-Z]/.test(name) || typeof value !== 'object') continue;
    const schema = value as Schema;
    if (!schema.properties && !schema.enum && !schema.anyOf) continue;
    const shape = JSON.stringify(schema);
    if (named.has(shape)) ambiguous.add(shape);
    else named.set(shape, name);
  }
  for (const shape of ambiguous) if (!shape.includes('"properties"')) named.delete(shape);
  return named;
}

/** Writes types, and keeps each named record that they mention. */
class Types {
  readonly #named = namedSchemas();
  readonly #written = new Map<string, string>();

  of(schema: Schema): string {
    const name = this.#named.get(JSON.stringify(schema));
    if (name === undefined) return this.#inline(schema);
    if (!this.#written.has(name)) {
      this.#written.set(name, '');
      this.#written.set(name, this.#declaration(name, schema));
    }
    return name;
  }

  declarations(): string {
    return [...this.#written]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, text]) => text)
      .join('\n\n');
  }

  /** A record of a route that has no name of its own: it gets the route's. */
  declare(name: string, schema: Schema): string {
    const known = this.#named.get(JSON.stringify(schema));
    if (known !== undefined || !schema.properties) return this.of(schema);
    this.#written.set(name, this.#declaration(name, schema));
    return name;
  }

  #declaration(name: string, schema: Schema): string {
    return schema.properties
      ? `export interface ${name} ${this.#fields(schema, '')}`
      : `export type ${name} = ${this.#inline(schema)};`;
  }

  #inline(schema: Schema, pad = ''): string {
    if (schema.anyOf) return [...new Set(schema.anyOf.map((one) => this.#nested(one, pad)))].join(' | ');
    if (schema.enum) return schema.enum.map((value) => literal(value)).join(' | ');
    if (schema.const !== undefined) return literal(schema.const);
    if (schema.items) return arrayOf(this.#nested(schema.items, pad));
    if (schema.properties) return this.#fields(schema, pad);
    const [values] = Object.values(schema.patternProperties ?? {});
    if (values) return `Record<string, ${this.#nested(values, pad)}>`;
    return primitives[schema.type ?? ''] ?? 'unknown';
  }

  #nested(schema: Schema, pad: string): string {
    return this.#named.has(JSON.stringify(schema)) ? this.of(schema) : this.#inline(schema, pad);
  }

  #fields({ properties = {}, required = [] }: Schema, pad: string): string {
    const inner = `${pad}  `;
    const lines = Object.entries(properties).map(([name, schema]) => {
      const mark = required.includes(name) ? '' : '?';
      return `${inner}${quoted(name)}${mark}: ${this.#nested(schema, inner)};`;
    });
    return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n${pad}}`;
  }
}

const primitives: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

const quoted = (name: string): string => (/^\w+$/.test(name) ? name : `'${name}'`);
const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value));
const arrayOf = (item: string): string => (/^\w+$/.test(item) ? `${item}[]` : `Array<${item}>`);
const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

export interface RouteTypeNames {
  query: string | null;
  body: string | null;
  answer: string;
  /** Of one item, where the answer is a list or has one. */
  item: string | null;
}

function namesOf(types: Types, route: string, row: RouteRow): RouteTypeNames {
  const name = capitalized(route);
  const query = row.query ? types.declare(`${name}Query`, row.query as Schema) : null;
  const record = row.body ? types.declare(`${name}Body`, row.body as Schema) : null;
  const body = row.speaks ? 'string' : record && row.isBodyOptional ? `Partial<${record}>` : record;
  const schema = row.returns[1] as Schema | null;
  const answer = schema === null ? 'undefined' : types.declare(`${name}Answer`, schema);
  const items = row.walk ? schema?.properties?.[row.walk.items]?.items : schema?.items;
  return { query, body, answer, item: items ? types.of(items) : null };
}

function inputOf({ query, body }: RouteTypeNames, row: RouteRow): string {
  const hasOptionalQuery = (row.query?.required ?? []).length === 0;
  const hasOptionalBody = row.isBodyOptional === true || (row.body !== undefined && !row.body.required?.length);
  const fields = [
    ...paramNames(splitAt(row).path).map((name) => `${name}: string`),
    ...(query ? [`query${hasOptionalQuery ? '?' : ''}: ${query}`] : []),
    ...(body ? [`body${hasOptionalBody ? '?' : ''}: ${body}`] : []),
  ];
  return fields.length === 0 ? '{}' : `{ ${fields.join('; ')} }`;
}

function collect() {
  const types = new Types();
  const rows = Object.entries(allRoutes as Record<string, RouteRow>);
  const routes = rows.map(([route, row]) => ({ route, row, names: namesOf(types, route, row) }));
  const events = Object.entries(allEvents).map(([type, { data }]) => `  '${type}': ${types.of(data as Schema)};`);
  for (const schema of [contract.ErrorEnvelope, contract.RtcTokenPermissionsDto]) types.of(schema as Schema);
  // What the client shows of frames.
  const { 'track.settings': settings } = contract.signalingClientFrames;
  types.declare('TrackSettings', settings.data.properties.updates.items as Schema);
  types.declare('StreamRecord', contract.signalingServerFrames['stream.state'].data as Schema);
  return { types, routes, events };
}

/** How the methods of the SDK name what a route takes and gives. */
export function routeTypeNames(): ReadonlyMap<string, RouteTypeNames> {
  return new Map(collect().routes.map(({ route, names }) => [route, names]));
}

export function contractTypesFile(): string {
  const { types, routes, events } = collect();
  const rows = routes.map(
    ({ route, row, names }) => `  ${route}: { input: ${inputOf(names, row)}; answer: ${names.answer} };`,
  );
  return `// Generated from packages/contract by tools/generate.ts. Do not edit.

${types.declarations()}

/** What each webhook event carries. */
export interface EventRecords {
${events.join('\n')}
}

/** What each route takes and gives. */
export interface RouteRecords {
${rows.join('\n')}
}
`;
}
