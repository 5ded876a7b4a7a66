import { fail } from '@parley/contract';

const countMax = 20;
const valueLengthMax = 1024;

/** Ours, the connection's or the body's: a receiver must be able to rely on them. */
const reservedNames = new Set([
  'accept-encoding',
  'connection',
  'date',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
]);
const reservedPrefixes = ['content-', 'proxy-', 'svc-', 'webhook-', 'x-forwarded-'];

/** Extra headers of an endpoint, names in lower case. Nothing in them can end a header line. */
export function checkHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(headers);
  if (entries.length > countMax) refuse('headers', `headers holds more than ${countMax} entries.`);
  const checked: Record<string, string> = {};
  for (const [given, value] of entries) {
    const name = given.toLowerCase();
    if (!/^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/.test(name)) refuse(given, 'is not the name of a header.');
    if (reservedNames.has(name) || reservedPrefixes.some((prefix) => name.startsWith(prefix)))
      refuse(given, 'cannot be set: it belongs to the delivery itself.');
    if (Object.hasOwn(checked, name)) refuse(given, 'is given twice.');
    if (value.length > valueLengthMax || !/^[\x20-\x7e]*$/.test(value))
      refuse(given, `must be at most ${valueLengthMax} printable ASCII characters.`);
    checked[name] = value.trim();
  }
  return checked;
}

function refuse(name: string, problem: string): never {
  const field = `headers.${name.slice(0, 64)}`;
  const message = name === 'headers' ? problem : `${field} ${problem}`;
  return fail('SVC_VALIDATION_FAILED', { message, details: [{ field, rule: 'header', message }] });
}
