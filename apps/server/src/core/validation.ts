import { type ErrorDetail, fail } from '@parley/contract';
import type { TObject, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/schema';
import { lazy } from './lazy.ts';

/** Checks input from outside and gives back only what its schema declares. */
export type Parser = (value: unknown) => Record<string, unknown>;

const validators = new WeakMap<TSchema, Validator>();

/** Compiles a schema once in a process: many routes share one. */
export function validatorOf(schema: TSchema): Validator {
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  return validator;
}

/** Compiles a schema when it is first used: compiling them all would be a second of every start. `whole` is what the input is called when it is no object at all. */
export function compileParser(schema: TObject, whole = 'body'): Parser {
  const compiled = lazy(() => validatorOf(schema));
  const names = Object.keys(schema.properties);
  const emptyMeansAbsent = names.filter((name) => isOptionalText(schema, name));

  return (value) => {
    const validator = compiled();
    if (!validator.Check(value)) {
      const [, problems] = validator.Errors(value);
      return refuse(detailsOf(problems, value, whole));
    }
    const given = value as Record<string, unknown>;
    const picked: Record<string, unknown> = {};
    for (const name of names) if (Object.hasOwn(given, name)) picked[name] = given[name];
    // "0-64 characters" is only a validator's lower bound: an empty text means that the field was not given.
    for (const name of emptyMeansAbsent) if (picked[name] === '') delete picked[name];
    return picked;
  };
}

function isOptionalText(schema: TObject, name: string): boolean {
  const property = schema.properties[name] as { type?: string; minLength?: number } | undefined;
  return property?.type === 'string' && !property.minLength && !schema.required?.includes(name);
}

interface SchemaError {
  keyword: string;
  instancePath: string;
  params: object;
  message: string;
}

function detailsOf(problems: Iterable<SchemaError>, value: unknown, whole: string): ErrorDetail[] {
  const details = new Map<string, ErrorDetail>();
  for (const problem of problems) {
    for (const detail of toDetails(problem, value, whole)) {
      if (!details.has(detail.field)) details.set(detail.field, detail);
    }
  }
  return [...details.values()].slice(0, 50);
}

function toDetails(problem: SchemaError, value: unknown, whole: string): ErrorDetail[] {
  const { keyword, instancePath, params, message } = problem;
  const field = instancePath.slice(1).replaceAll('/', '.');
  const inside = (names: readonly string[]) => names.map((name) => (field === '' ? name : `${field}.${name}`));
  if (keyword === 'required' && 'requiredProperties' in params) {
    const names = inside(params.requiredProperties as string[]);
    return names.map((name) => ({ field: name, rule: 'required', message: `${name} is required.` }));
  }
  if (keyword === 'additionalProperties' && 'additionalProperties' in params) {
    const names = inside(params.additionalProperties as string[]);
    return names.map((name) => ({ field: name, rule: 'unknown', message: `${name} is not a known field.` }));
  }
  // The parts of a failed union and of "additionalProperties: false" only repeat what the row above them says.
  if (keyword === 'boolean' || keyword === 'const') return [];
  if (field === '' && keyword === 'type') {
    const none = value === undefined ? ', and none was sent' : '';
    return [{ field: whole, rule: 'type', message: `The ${whole} ${message}${none}.` }];
  }
  return [{ field, rule: keyword, message: `${field} ${message}.` }];
}

/** Fails with what is wrong, field by field. */
export function refuse(details: ErrorDetail[]): never {
  const [first] = details;
  const message = first && details.length === 1 ? first.message : undefined;
  return fail(first?.rule === 'unknown' ? 'SVC_UNKNOWN_FIELD' : 'SVC_VALIDATION_FAILED', {
    details,
    ...(message ? { message } : {}),
  });
}
