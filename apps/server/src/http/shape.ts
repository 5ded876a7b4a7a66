import type { TSchema } from 'typebox';

/** Keeps what the schema declares and drops the rest, so that no column leaks by being selected. */
export type Shape = (value: unknown) => unknown;

interface SchemaParts {
  type?: string;
  properties?: Record<string, TSchema>;
  items?: TSchema;
  anyOf?: TSchema[];
}

const keep: Shape = (value) => value;

/** A union is shaped by its only object or array member (a nullable record); others pass as they are. */
export function compileShape(schema: TSchema | null): Shape {
  if (schema === null) return keep;
  const { type, properties, items, anyOf } = schema as SchemaParts;
  if (type === 'array' && items) return shapeArray(compileShape(items));
  if (type === 'object' && properties) return shapeObject(properties);
  if (anyOf) {
    const shapes = anyOf.map(compileShape).filter((shape) => shape !== keep);
    const [only] = shapes;
    return only && shapes.length === 1 ? only : keep;
  }
  return keep;
}

function shapeArray(element: Shape): Shape {
  return element === keep ? keep : (value) => (Array.isArray(value) ? value.map(element) : value);
}

function shapeObject(properties: Record<string, TSchema>): Shape {
  const fields = Object.entries(properties).map(([name, schema]) => [name, compileShape(schema)] as const);
  return (value) => {
    if (typeof value !== 'object' || value === null) return value;
    const given = value as Record<string, unknown>;
    const shaped: Record<string, unknown> = {};
    for (const [name, shape] of fields) if (given[name] !== undefined) shaped[name] = shape(given[name]);
    return shaped;
  };
}
