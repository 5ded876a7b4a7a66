/** Something that was read of a sink, and what it was. */
export interface Piece {
  /** For example `answer to createApiKey`; a canary's row names the pieces that may show it. */
  where: string;
  text: string | Buffer;
}

/** A secret that was planted. */
export interface Canary {
  name: string;
  /** What nobody else may see: of a signed token its signature, of a key its secret. */
  secret: string;
  /** The pieces that may show it: its one-time answer, and those whom it is for. */
  shownBy: readonly string[];
}

export interface Leak {
  canary: string;
  where: string;
  form: string;
}

type Form = readonly [name: string, text: string];

/** A secret that lost its end is still one, and some callers get the end wrong on purpose. */
const droppedLength = 2;
const lengthMin = 10;

/** A secret in every dress it could leave in. */
export function formsOf(secret: string): Form[] {
  const kept = secret.slice(0, -droppedLength);
  if (kept.length < lengthMin) throw new Error(`"${kept}" is too short: it could match by chance.`);
  const bytes = Buffer.from(kept);
  const hex = bytes.toString('hex');
  const forms: Form[] = [
    ['plain', kept],
    ['hex', hex],
    ['hex', hex.toUpperCase()],
    ['URL-encoded', encodeURIComponent(kept)],
    ['JSON', JSON.stringify(kept).slice(1, -1)],
    ...[0, 1, 2].flatMap((before) => base64At(bytes, before)),
    ...decoded(kept),
  ];
  return forms.filter(([, text], index) => forms.findIndex((form) => form[1] === text) === index);
}

/** Base64 of the bytes behind so many others, without the characters that the neighbours decide. */
function base64At(bytes: Buffer, before: number): Form[] {
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
  const sure = text.slice(before === 0 ? 0 : before + 1, Math.floor(((before + bytes.length) * 8) / 6));
  return [
    ['base64', sure],
    ['base64', sure.replaceAll('+', '-').replaceAll('/', '_')],
  ];
}

/** A random secret is text for bytes: a column may hold the bytes, which show as hex. */
function decoded(kept: string): Form[] {
  const body = kept.replace(/^whsec_/, '');
  if (!/^[A-Za-z0-9+/_-]{20,}$/.test(body)) return [];
  const whole = body.slice(0, body.length - (body.length % 4));
  return [['bytes in hex', Buffer.from(whole, 'base64').toString('hex')]];
}

/** Where a piece shows a secret that its row does not allow it to. */
export function leaksIn(pieces: Iterable<Piece>, canaries: readonly Canary[]): Leak[] {
  const needles = canaries.map((canary) => ({ canary, forms: formsOf(canary.secret) }));
  const leaks = new Map<string, Leak>();
  for (const piece of pieces) {
    for (const { canary, forms } of needles) {
      if (canary.shownBy.includes(piece.where)) continue;
      for (const form of formsIn(piece, canary.secret, forms)) {
        const leak = { canary: canary.name, where: piece.where, form };
        leaks.set(JSON.stringify(leak), leak);
      }
    }
  }
  return [...leaks.values()];
}

/** What was found in a piece: its text, and for each secret that was looked for the forms it has there. */
interface Search {
  content: string;
  found: Map<string, readonly string[]>;
}
const searches = new WeakMap<Piece, Search>();

/** The forms in which a piece shows a secret. Several tests ask, and several sinks have the same pieces: each is searched once. */
function formsIn(piece: Piece, secret: string, forms: readonly Form[]): readonly string[] {
  const search = searches.get(piece) ?? newSearch(piece);
  const found =
    search.found.get(secret) ?? forms.filter(([, text]) => search.content.includes(text)).map(([name]) => name);
  search.found.set(secret, found);
  return found;
}

function newSearch(piece: Piece): Search {
  const content = typeof piece.text === 'string' ? piece.text : textIn(piece.text);
  const search = { content, found: new Map() };
  searches.set(piece, search);
  return search;
}

const runMin = 8;

/** What can be read in binary content: runs of printable characters, each once. */
function textIn(bytes: Buffer): string {
  const runs = bytes.toString('latin1').match(new RegExp(`[\\x20-\\x7e]{${runMin},}`, 'g'));
  return [...new Set(runs)].join('\n');
}
