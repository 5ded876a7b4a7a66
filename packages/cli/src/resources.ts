import { allRoutes, paramNames, type RouteRow, splitAt, type TObject } from '@parley/contract';
import { isSvcError, type List } from '@parley/server';
import { clientOf } from './account.ts';
import { accountOptions, type Command, jsonOption, UsageError, type Values } from './command.ts';
import { table } from './table.ts';

/** The SDK's methods by noun and verb: `parley rooms tokens create demo --participant-identity ada`. */
export interface Resource {
  /** `rooms tokens create` */
  words: string;
  path: readonly string[];
  row: RouteRow;
}

const kebab = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Shorter names for nouns that are typed often. */
const shorter: Readonly<Record<string, string>> = { 'live-streams': 'streams', 'rooms tokens': 'tokens' };

export const resources: readonly Resource[] = Object.values(allRoutes as Record<string, RouteRow>).flatMap((row) => {
  if (row.sdk === undefined || row.streams) return [];
  const path = row.sdk.split('.');
  const words = path.map(kebab).join(' ');
  const found = [{ words, path, row }];
  for (const [long, short] of Object.entries(shorter))
    if (words.startsWith(`${long} `)) found.push({ words: words.replace(long, short), path, row });
  return found;
});

const inputOf = ({ row }: Resource): TObject | undefined => row.body ?? row.query;

interface FieldSchema {
  type?: string;
  enum?: readonly unknown[];
  anyOf?: readonly FieldSchema[];
}

const typeOf = (schema: FieldSchema): string =>
  schema.enum?.join(' | ') ?? schema.type ?? schema.anyOf?.map(typeOf).join(' or ') ?? 'JSON';

export function commandOf(resource: Resource): Command {
  const params = paramNames(splitAt(resource.row).path);
  const fields = Object.entries((inputOf(resource)?.properties ?? {}) as Record<string, FieldSchema>);
  const required = new Set(inputOf(resource)?.required ?? []);
  return {
    does: resource.row.does,
    usage: [...params.map((param) => `<${kebab(param)}>`), '[options]'].join(' '),
    options: {
      ...Object.fromEntries(
        fields.map(([name, schema]) => [
          kebab(name),
          { type: 'string', means: `${typeOf(schema)}${required.has(name) ? ' (needed)' : ''}` } as const,
        ]),
      ),
      data: { type: 'string', means: 'All of it as JSON; the options above win.' },
      all: { type: 'boolean', means: 'A list: every page, not only the first.' },
      ...accountOptions,
      ...jsonOption,
    },
    words: { least: params.length, most: params.length },
    async run(values, context, words) {
      const method = resource.path.reduce<unknown>(
        (scope, part) => (scope as Record<string, unknown>)[part],
        clientOf(values, context),
      ) as (...args: unknown[]) => Promise<unknown>;
      const input = inputOf(resource) ? [readInput(values, fields)] : [];
      try {
        const called = method(...words, ...input);
        const answer = values['all'] && Symbol.asyncIterator in called ? await everything(called) : await called;
        context.out(values['json'] ? JSON.stringify(answer ?? null) : shown(answer));
        return 0;
      } catch (error) {
        if (!isSvcError(error)) throw error;
        context.error(`${error.code}: ${error.message}${error.requestId === '' ? '' : ` (${error.requestId})`}`);
        return 1;
      }
    },
  };
}

async function everything(list: unknown): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const item of list as List<unknown, unknown>) items.push(item);
  return items;
}

function readInput(values: Values, fields: readonly [string, FieldSchema][]): Record<string, unknown> {
  const input: Record<string, unknown> = values['data'] === undefined ? {} : parse('data', String(values['data']));
  for (const [name, schema] of fields) {
    const text = values[kebab(name)];
    if (text !== undefined)
      input[name] = schema.type === 'string' || schema.enum ? text : parse(kebab(name), String(text));
  }
  return input;
}

function parse(option: string, text: string) {
  try {
    return JSON.parse(text);
  } catch {
    // Text where JSON may stand too: `--text hello` of a field that may be null.
    if (option === 'data' || /^[[{]/.test(text)) throw new UsageError(`--${option} is not JSON.`);
    return text;
  }
}

type Fields = Record<string, unknown>;

/** The most useful columns of a resource; the rest is in --json. */
const mainColumns = [
  'id',
  'name',
  'title',
  'status',
  'identity',
  'userId',
  'senderId',
  'text',
  'type',
  'role',
  'createdAt',
];

function shown(answer: unknown): string {
  const items = Array.isArray(answer)
    ? answer
    : ((answer as Fields | null)?.['messages'] ?? (answer as Fields)?.['changes']);
  if (Array.isArray(items) && items.every((item) => typeof item === 'object' && item !== null))
    return listed(items as Fields[]);
  return answer === undefined ? 'Done.' : JSON.stringify(answer, null, 2);
}

function listed(items: readonly Fields[]): string {
  if (items.length === 0) return 'None.';
  const columns = mainColumns.filter((name) => items.some((item) => name in item));
  const cell = (value: unknown): string => (value === null || value === undefined ? '' : String(value).slice(0, 48));
  return table(
    columns.map((name) => kebab(name).toUpperCase()),
    items.map((item) => columns.map((name) => cell(item[name]))),
  );
}
