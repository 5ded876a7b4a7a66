import type { LinkPreview } from '@parley/contract';

/** What a page says of itself. */
type PageText = Omit<LinkPreview, 'url'>;

const lengths = { title: 120, description: 240, siteName: 60, url: 1_000 } as const;
const tagMax = 4_000;
const tagsMax = 400;

/** The title and what OpenGraph adds to it, as text; null for a page without a title. */
export function previewIn(html: string, base: string): PageText | null {
  const found = new Map<string, string>();
  let tags = 0;
  // Each step starts where the one before it ended: the time is that of reading it once.
  for (let at = html.indexOf('<'), end = 0; at !== -1 && tags < tagsMax; at = html.indexOf('<', end)) {
    end = at + 1;
    const name = /^<(meta|title|body)[\s>]/i.exec(html.slice(at, at + 8))?.[1]?.toLowerCase();
    if (name === undefined) continue;
    if (name === 'body') break;
    tags++;
    if (name === 'title') keep(found, 'title', titleAt(html, at));
    else end = at + noteMeta(found, html.slice(at, at + tagMax));
  }
  const of = (length: number, ...names: string[]): string | null => {
    for (const name of names) {
      const text = plain(found.get(name) ?? '', length);
      if (text !== '') return text;
    }
    return null;
  };
  const title = of(lengths.title, 'og:title', 'twitter:title', 'title');
  if (title === null) return null;
  return {
    title,
    description: of(lengths.description, 'og:description', 'description', 'twitter:description'),
    siteName: of(lengths.siteName, 'og:site_name'),
    imageUrl: imageOf(found.get('og:image:secure_url') ?? found.get('og:image') ?? '', base),
  };
}

/** The first of a name counts. */
function keep(found: Map<string, string>, name: string, text: string): void {
  if (!found.has(name)) found.set(name, text);
}

function titleAt(html: string, at: number): string {
  const from = html.indexOf('>', at) + 1;
  const to = html.indexOf('<', from);
  return from === 0 || to === -1 ? '' : unescaped(html.slice(from, Math.min(to, from + tagMax)));
}

// A name begins where no name goes on: a long word is tried once, not from each of its letters.
const attribute =
  /(?<![a-z:-])([a-z:-]{1,40})\s{0,9}=\s{0,9}(?:"([^"]{0,3000})"|'([^']{0,3000})'|([^\s"'>]{1,3000}))/gi;

/** Gives how long the tag is. */
function noteMeta(found: Map<string, string>, text: string): number {
  const own = tagOf(text);
  const parts = new Map<string, string>();
  for (const [, name = '', double, single, bare] of own.matchAll(attribute))
    keep(parts, name.toLowerCase(), double ?? single ?? bare ?? '');
  const name = parts.get('property') ?? parts.get('name');
  const content = parts.get('content');
  if (name !== undefined && content !== undefined) keep(found, name.toLowerCase(), unescaped(content));
  return own.length;
}

/** Up to its end, which is no `>` inside quotes. */
function tagOf(text: string): string {
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if (quote === '' && char === '>') return text.slice(0, at);
    if (quote === '' && (char === '"' || char === "'")) quote = char;
    else if (char === quote) quote = '';
  }
  return text;
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  middot: '·',
  bull: '•',
  laquo: '«',
  raquo: '»',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  copy: '©',
  reg: '®',
  trade: '™',
};

const unescaped = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[String(name).toLowerCase()] ?? whole;
    const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const isCharacter = point > 31 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
    return isCharacter ? String.fromCodePoint(point) : ' ';
  });

/** One line of text: no control character, none that turns the direction, and no half of a pair. */
function plain(text: string, length: number): string {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\s]+/gu, ' ')
    .trim();
  const points = [...line];
  return points.length <= length ? line : `${points.slice(0, length - 1).join('')}…`;
}

function imageOf(text: string, base: string): string | null {
  const url = text === '' ? null : URL.parse(text.trim(), base);
  const isWeb = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  return isWeb && url.href.length <= lengths.url ? url.href : null;
}

const labels = /charset\s*=\s*["']?\s*([\w-]{1,40})/i;

/** By what the answer says, or the page itself; UTF-8 otherwise. */
export function textOf(body: Buffer, contentType: string): string {
  const label = labels.exec(contentType)?.[1] ?? labels.exec(body.toString('latin1', 0, 1_024))?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}
