import type { RouteRow } from '@parley/contract';
import type { TObject, TSchema } from 'typebox';

const SOME_UUID = '01a1dd14-de65-7b05-8710-0999672eacce';
const TEXTS = ['ada@example.com', 'a', 'text/plain', '2026-11-15T12:00:00.000Z', SOME_UUID, 'EUR', '1'];

interface Parts {
  type?: string;
  enum?: unknown[];
  anyOf?: TSchema[];
  const?: unknown;
  minimum?: number;
  minLength?: number;
  pattern?: string;
}

/** Something the schema accepts, so that only the credential or the id is wrong. */
function sample(schema: TSchema): unknown {
  const parts = schema as Parts;
  if (parts.const !== undefined) return parts.const;
  if (parts.enum) return parts.enum[0];
  if (parts.anyOf) return sample(parts.anyOf[0] as TSchema);
  switch (parts.type) {
    case 'string':
      return [...TEXTS, 'x'.repeat(parts.minLength ?? 1)].find(
        (text) => text.length >= (parts.minLength ?? 0) && new RegExp(parts.pattern ?? '').test(text),
      );
    case 'integer':
    case 'number':
      return parts.minimum ?? 1;
    case 'boolean':
      return true;
    case 'array':
      return [];
    default:
      return {};
  }
}

const sampleOf = (schema: TObject): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(schema.properties)
      .filter(([name]) => schema.required?.includes(name))
      .map(([name, part]) => [name, sample(part)]),
  );

/** A body with every required field of the row, as JSON; nothing for a row that takes none. */
export const sampleBody = ({ body }: RouteRow): { body?: string } =>
  body === undefined ? {} : { body: JSON.stringify(sampleOf(body)) };
