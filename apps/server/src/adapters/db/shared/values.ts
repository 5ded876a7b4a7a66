/** One way to write parameters and to read columns, for both databases: `pg` and PGlite each have habits of their own. */
import { parse as parseArray } from 'postgres-array';

/** What goes over the wire: text, binary (bytea) or null. */
export type WireValue = string | Buffer | null;

export function encodeValue(value: unknown): WireValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (Array.isArray(value)) return encodeArray(value);
  if (typeof value === 'object') return JSON.stringify(value);
  // JSON has no word for it: it would be stored as null.
  throw new TypeError(`A ${typeof value} cannot be a parameter.`);
}

function encodeArray(values: readonly unknown[]): string {
  return `{${values.map(encodeElement).join(',')}}`;
}

const mustEscape = /["\\]/;

function encodeElement(value: unknown): string {
  if (Array.isArray(value)) return encodeArray(value);
  const wire = encodeValue(value);
  if (wire === null) return 'NULL';
  const text = typeof wire === 'string' ? wire : `\\x${wire.toString('hex')}`;
  return mustEscape.test(text) ? `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"` : `"${text}"`;
}

type Decode = (text: string) => unknown;

const text: Decode = (value) => value;
const bytes: Decode = (value) => Buffer.from(value.slice(2), 'hex');

/** `2026-01-02 03:04:05.6+00` → `2026-01-02T03:04:05.600Z`. The session's time zone is UTC; digits past milliseconds are cut. */
function timestamp(value: string): string {
  const isPlain = value.charCodeAt(4) === 45 && value.charCodeAt(10) === 32;
  if (!isPlain || value.endsWith('BC')) return value; // infinity, year 10000 and later
  const end = value.endsWith('+00') ? value.length - 3 : value.length;
  const fraction = value.charCodeAt(19) === 46 ? value.slice(20, Math.min(end, 23)).padEnd(3, '0') : '000';
  return `${value.slice(0, 10)}T${value.slice(11, 19)}.${fraction}Z`;
}

const scalars: readonly [oid: number, arrayOid: number, decode: Decode][] = [
  [16, 1000, (value) => value === 't'], // bool
  [17, 1001, bytes],
  [20, 1016, Number], // int8
  [21, 1005, Number], // int2
  [23, 1007, Number], // int4
  [26, 1028, Number], // oid
  [700, 1021, Number], // float4
  [701, 1022, Number], // float8
  [1700, 1231, Number], // numeric
  [114, 199, (value) => JSON.parse(value)], // json
  [3802, 3807, (value) => JSON.parse(value)], // jsonb
  [1114, 1115, timestamp],
  [1184, 1185, timestamp], // timestamptz
  [25, 1009, text],
  [1043, 1015, text], // varchar
  [1042, 1014, text], // bpchar
  [1082, 1182, text], // date
  [2950, 2951, text], // uuid
  [19, 1003, text], // name
];

const decoders = new Map<number, Decode>(
  scalars.flatMap(([oid, arrayOid, decode]) => [
    [oid, decode],
    [arrayOid, (value: string) => parseArray(value, decode)],
  ]),
);

export const decoderOf = (oid: number): Decode => decoders.get(oid) ?? text;
