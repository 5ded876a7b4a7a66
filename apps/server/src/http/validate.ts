import type { RouteRow } from '@parley/contract';
import type { TSchema } from 'typebox';
import { compileParser, type Parser, refuse } from '../core/validation.ts';

/** Path parameters are data too: bounded, and free of characters that no id or name can hold. */
export function checkParams(params: Readonly<Record<string, string>>): void {
  for (const [field, value] of Object.entries(params)) {
    const problem =
      value.length === 0 || value.length > 400 ? 'length' : hasControlCharacter(value) ? 'characters' : null;
    if (problem) refuse([{ field, rule: problem, message: `${field} in the path is not valid.` }]);
  }
}

export function bodyParser(row: RouteRow): Parser | null {
  if (!row.body) return null;
  const parse = compileParser(row.body);
  return (value) => parse(value === undefined && row.isBodyOptional ? {} : value);
}

/** Query strings are text: numbers and booleans are read as the schema says. */
export function queryParser(row: RouteRow): Parser | null {
  if (!row.query) return null;
  const { properties } = row.query;
  const parse = compileParser(row.query);
  return (value) => {
    const given = value as Record<string, unknown>;
    const read = Object.entries(properties).map(([name, schema]) => [name, coerce(schema, given[name])] as const);
    return parse(Object.fromEntries(read.filter(([, entry]) => entry !== undefined && entry !== '')));
  };
}

function coerce(schema: TSchema, value: unknown): unknown {
  const { type } = schema as { type?: string };
  if (typeof value !== 'string') return value;
  if ((type === 'integer' || type === 'number') && /^-?\d{1,15}(\.\d{1,6})?$/.test(value)) return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  // A NUL cannot be stored: an impossible value fails the schema instead of the database.
  return value.includes('\u0000') || !value.isWellFormed() ? null : value;
}

function hasControlCharacter(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 || code === 127) return true;
  }
  return !text.isWellFormed();
}
