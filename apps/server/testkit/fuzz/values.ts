import fc from 'fast-check';
import type { TObject, TSchema } from 'typebox';

/** What has broken services before. */
const NASTY = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e',
  'null',
  '__proto__',
  'constructor',
  "'; drop table users; --",
  '../../etc/passwd',
  '%00',
  '{{7*7}}',
  '<script>',
  'ａ',
  '👩‍👩‍👧‍👦',
  '1e400',
  '-0',
  '2026-02-30T25:61:61Z',
  '01a1dd14-de65-7b05-8710-0999672eacce',
];
export const nasty = fc.constantFrom(...NASTY);

/** Of any characters. The library's own unit of them keeps a table of all, which takes a second and 100 MB to make. */
const character = fc.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }));
const unit = character.map((code) => String.fromCodePoint(code));
export const anyText = (maxLength: number): fc.Arbitrary<string> => fc.string({ maxLength, unit });

const odd: fc.Arbitrary<unknown> = fc.oneof(
  nasty,
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(null, true, 0, -1, 1.5, 2 ** 53, 1e308, [], {}, [[]], { a: { b: [] } }),
  anyText(300),
  fc.integer({ min: 1, max: 9000 }).map((length) => 'x'.repeat(length)),
);

interface Parts {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: TSchema[];
  properties?: Record<string, TSchema>;
  required?: string[];
  items?: TSchema;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  maxItems?: number;
}

/** Values that exist in the world, by the name a field or path part has; a field that is not named takes any of them. */
export type Hints = Readonly<Record<string, string>>;

/** Values near what the schema takes: mostly right, often at its edges, sometimes something else altogether. */
export function near(schema: TSchema, hints: Hints, name = ''): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary: fitting(schema, hints, name), weight: 6 }, { arbitrary: odd, weight: 1 });
}

function fitting(schema: TSchema, hints: Hints, name: string): fc.Arbitrary<unknown> {
  const parts = schema as Parts;
  if (parts.const !== undefined) return fc.constant(parts.const);
  if (parts.enum) return fc.constantFrom(...parts.enum);
  if (parts.anyOf) return fc.oneof(...parts.anyOf.map((part) => near(part, hints, name)));
  switch (parts.type) {
    case 'object':
      return parts.properties ? nearObject(schema as TObject, hints) : fc.dictionary(fc.string({ maxLength: 20 }), odd);
    case 'array':
      return fc.array(near(parts.items ?? ({} as TSchema), hints, name), {
        maxLength: Math.min(parts.maxItems ?? 5, 5),
      });
    case 'integer':
    case 'number':
      return fc.oneof(
        fc.constantFrom(parts.minimum ?? 0, (parts.minimum ?? 0) - 1, parts.maximum ?? 1000, (parts.maximum ?? 0) + 1),
        fc.integer({ min: -10, max: 100_000 }),
      );
    case 'boolean':
      return fc.boolean();
    case 'string':
      return texts(parts, hints, name);
    default:
      return odd;
  }
}

function texts({ minLength = 0, maxLength = 40 }: Parts, hints: Hints, name: string): fc.Arbitrary<string> {
  const edges = [minLength, Math.max(minLength - 1, 0), Math.min(maxLength, 5000), Math.min(maxLength + 1, 5001)];
  const own = hints[name];
  return fc.oneof(
    { arbitrary: fc.constant(own ?? 'ada'), weight: own === undefined ? 0 : 6 },
    { arbitrary: fc.constantFrom('ada', 'grace', 'a', ...Object.values(hints)), weight: 1 },
    { arbitrary: fc.constantFrom(...edges).map((length) => 'x'.repeat(length)), weight: 1 },
    { arbitrary: fc.string({ maxLength: 40 }), weight: 1 },
    { arbitrary: nasty, weight: 1 },
  );
}

/** An object with its required fields mostly there, its optional ones sometimes, and at times one nobody knows. */
export function nearObject(schema: TObject, hints: Hints): fc.Arbitrary<Record<string, unknown>> {
  const { properties = {}, required = [] } = schema as Parts;
  // `freq` is one in how many is left out.
  const fields = Object.entries(properties).map(([name, part]) =>
    fc
      .option(near(part, hints, name), { freq: required.includes(name) ? 20 : 2, nil: undefined })
      .map((value) => [name, value]),
  );
  const extra = fc.tuple(nasty, odd);
  return fc.tuple(fc.tuple(...fields), fc.tuple(fc.nat(9), extra)).map(([pairs, [dice, more]]) => {
    const known = pairs.filter((pair) => pair[1] !== undefined) as [string, unknown][];
    return Object.fromEntries(dice === 0 ? [...known, more] : known);
  });
}
