/**
 * What goes over a topic's channel: everything one process published to it in one turn. A line that says who, then each
 * message as a line of JSON. Texts of a message that are JSON themselves (a frame, a stored record) follow its line as
 * they are: within JSON each of their quotes would be escaped, and unescaped again by every process that hears it.
 */
export const envelopeOf = (from: string, messages: readonly unknown[]): string =>
  [from, ...messages.map(encode)].join('\n');

type Fields = Record<string, unknown>;

/** Begins the line of a message with texts behind it, whose places and lengths it says first; no JSON begins so. */
const mark = '#';
/** What is shorter is as cheap within the line. */
const textMin = 32;
/** Names of ours. Others are the users', and may have anything in them. */
const plainName = /^[a-z]\w*$/i;

/** A copy without its texts, or the fields themselves where there are none. */
function withoutTexts(fields: Fields, path: string, texts: { places: string; all: string }): Fields {
  let rest = fields;
  for (const key in fields) {
    const value = fields[key];
    if (typeof value !== 'string' || value.length < textMin || !value.startsWith('{')) continue;
    if (!plainName.test(key)) continue;
    if (rest === fields) rest = { ...fields };
    // JSON leaves it out.
    rest[key] = undefined;
    texts.places += `${path}${key}:${value.length},`;
    texts.all += value;
  }
  return rest;
}

function encode(message: unknown): string {
  if (!isFields(message)) return JSON.stringify(message ?? null);
  const texts = { places: '', all: '' };
  let head = withoutTexts(message, '', texts);
  for (const outer in message) {
    const inner = message[outer];
    if (!isFields(inner) || !plainName.test(outer)) continue;
    const rest = withoutTexts(inner, `${outer}.`, texts);
    if (rest !== inner) head = { ...head, [outer]: rest };
  }
  const line = JSON.stringify(head);
  return texts.all === '' ? line : `${mark}${texts.places}${line}\n${texts.all}`;
}

/** Our own processes wrote it. */
export function messagesOf(envelope: string): unknown[] {
  const messages: unknown[] = [];
  let at = envelope.indexOf('\n');
  while (at !== -1 && at < envelope.length) {
    const next = envelope.indexOf('\n', at + 1);
    const end = next === -1 ? envelope.length : next;
    if (!envelope.startsWith(mark, at + 1)) {
      messages.push(JSON.parse(envelope.slice(at + 1, end)));
      at = end;
      continue;
    }
    const lineAt = envelope.indexOf('{', at);
    const head: Fields = JSON.parse(envelope.slice(lineAt, end));
    const places = envelope.slice(at + 2, lineAt - 1).split(',');
    at = end + 1;
    for (const place of places) {
      const colon = place.lastIndexOf(':');
      const dot = place.indexOf('.');
      const fields = dot === -1 ? head : head[place.slice(0, dot)];
      const length = Number(place.slice(colon + 1));
      if (isFields(fields)) fields[place.slice(dot + 1, colon)] = envelope.slice(at, at + length);
      at += length;
    }
    messages.push(head);
  }
  return messages;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
