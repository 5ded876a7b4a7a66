/**
 * The part of YAML that the files in deploy/ are written in: block and flow collections, quoted and plain scalars,
 * comments, anchors with merge keys. What it does not know it refuses, so that a file it read is what it seems to be.
 */
export type Yaml = string | number | boolean | null | Yaml[] | { [key: string]: Yaml };

interface Line {
  indent: number;
  text: string;
  number: number;
}

export class YamlError extends Error {}

/** Every document of a text. */
export const parseYamlDocuments = (text: string): Yaml[] =>
  text
    .split(/^---$/m)
    .filter((part) => linesOf(part).length > 0)
    .map(parseYaml);

export function parseYaml(text: string): Yaml {
  const lines = linesOf(text);
  const anchors = new Map<string, Yaml>();
  const value = parseBlock(lines, lines[0]?.indent ?? 0, anchors);
  if (lines[0]) throw new YamlError(`line ${lines[0].number} does not fit: ${lines[0].text}`);
  return value;
}

function linesOf(text: string): Line[] {
  return text.split('\n').flatMap((raw, index) => {
    if (raw.includes('\t')) throw new YamlError(`line ${index + 1} has a tab`);
    const bare = withoutComment(raw).trimEnd();
    const indent = bare.length - bare.trimStart().length;
    return bare.trim() === '' ? [] : [{ indent, text: bare.trim(), number: index + 1 }];
  });
}

/** A hash begins a comment at the start or after a space, outside quotes. */
function withoutComment(line: string): string {
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const letter = line.charAt(at);
    if (quote !== '') quote = letter === quote && line.charAt(at - 1) !== '\\' ? '' : quote;
    else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === '#' && (at === 0 || line.charAt(at - 1) === ' ')) return line.slice(0, at);
  }
  return line;
}

function parseBlock(lines: Line[], indent: number, anchors: Map<string, Yaml>): Yaml {
  const [first] = lines;
  if (first === undefined || first.indent < indent) return null;
  if (first.text === '-' || first.text.startsWith('- ')) return parseList(lines, first.indent, anchors);
  if (keyOf(first.text)) return parseMap(lines, first.indent, anchors);
  lines.shift();
  return parseScalar(first.text, first.number, anchors);
}

function parseList(lines: Line[], indent: number, anchors: Map<string, Yaml>): Yaml[] {
  const items: Yaml[] = [];
  while (lines[0]?.indent === indent && (lines[0].text === '-' || lines[0].text.startsWith('- '))) {
    const [line] = lines as [Line];
    const rest = line.text.slice(1).trimStart();
    // The item's own first line is as far in as its text is.
    lines[0] = { ...line, indent: indent + line.text.length - rest.length, text: rest };
    if (rest === '') lines.shift();
    items.push(parseBlock(lines, indent + 1, anchors));
  }
  return items;
}

/** `key: rest` outside quotes and flow collections. */
function keyOf(text: string): { key: string; rest: string } | null {
  const match = /^("[^"]*"|'[^']*'|[^\s"'{[&*!|>%@`][^:]*?|<<):(?:\s+(.*))?$/.exec(text);
  return match ? { key: unquoted(match[1] ?? ''), rest: match[2] ?? '' } : null;
}

const unquoted = (text: string): string => (/^["']/.test(text) ? text.slice(1, -1) : text);

function parseMap(lines: Line[], indent: number, anchors: Map<string, Yaml>): { [key: string]: Yaml } {
  const map: { [key: string]: Yaml } = {};
  while (lines[0]?.indent === indent) {
    const [line] = lines as [Line];
    const found = keyOf(line.text);
    if (!found) throw new YamlError(`line ${line.number} is no entry: ${line.text}`);
    if (found.key in map) throw new YamlError(`line ${line.number} repeats ${found.key}`);
    lines.shift();
    const anchor = /^&(\w+)\s*/.exec(found.rest);
    const rest = anchor ? found.rest.slice(anchor[0].length) : found.rest;
    const value = rest === '' ? parseNested(lines, indent, anchors) : parseScalar(rest, line.number, anchors);
    if (anchor) anchors.set(anchor[1] ?? '', value);
    if (found.key === '<<') Object.assign(map, value);
    else map[found.key] = value;
  }
  return map;
}

/** What follows a bare key: further in, or a list at the same place. */
function parseNested(lines: Line[], indent: number, anchors: Map<string, Yaml>): Yaml {
  const [next] = lines;
  const isListHere = next?.indent === indent && (next.text === '-' || next.text.startsWith('- '));
  return isListHere ? parseList(lines, indent, anchors) : parseBlock(lines, indent + 1, anchors);
}

function parseScalar(text: string, number: number, anchors: Map<string, Yaml>): Yaml {
  if (text.startsWith('*')) {
    const known = anchors.get(text.slice(1));
    if (known === undefined) throw new YamlError(`line ${number}: no anchor ${text}`);
    return known;
  }
  if (/^[|>&!%@`]/.test(text)) throw new YamlError(`line ${number}: not in our part of YAML: ${text}`);
  const { value, rest } = parseFlow(text, number);
  if (rest.trim() !== '') throw new YamlError(`line ${number}: ${rest.trim()} is left over`);
  return value;
}

interface Taken {
  value: Yaml;
  rest: string;
}

function parseFlow(text: string, number: number, ends = ''): Taken {
  const source = text.trimStart();
  if (source.startsWith('[')) return parseFlowList(source.slice(1), number);
  if (source.startsWith('{')) return parseFlowMap(source.slice(1), number);
  const quoted = /^"((?:[^"\\]|\\.)*)"|^'((?:[^']|'')*)'/.exec(source);
  if (quoted) {
    const value = quoted[1] === undefined ? (quoted[2] ?? '').replaceAll("''", "'") : JSON.parse(quoted[0]);
    return { value, rest: source.slice(quoted[0].length) };
  }
  const end =
    ends === ''
      ? source.length
      : Math.max(
          0,
          [...source, ends.charAt(0)].findIndex((one) => ends.includes(one)),
        );
  return { value: plain(source.slice(0, end).trim()), rest: source.slice(end) };
}

function parseFlowList(text: string, number: number): Taken {
  const items: Yaml[] = [];
  for (let rest = text.trimStart(); ; ) {
    if (rest.startsWith(']')) return { value: items, rest: rest.slice(1) };
    const taken = parseFlow(rest, number, ',]');
    items.push(taken.value);
    rest = taken.rest.trimStart();
    if (rest.startsWith(',')) rest = rest.slice(1).trimStart();
    else if (!rest.startsWith(']')) throw new YamlError(`line ${number}: a list does not end`);
  }
}

function parseFlowMap(text: string, number: number): Taken {
  const map: { [key: string]: Yaml } = {};
  for (let rest = text.trimStart(); ; ) {
    if (rest.startsWith('}')) return { value: map, rest: rest.slice(1) };
    const key = /^("[^"]*"|[\w./-]+):\s*/.exec(rest);
    if (!key) throw new YamlError(`line ${number}: no key in ${rest}`);
    const taken = parseFlow(rest.slice(key[0].length), number, ',}');
    map[unquoted(key[1] ?? '')] = taken.value;
    rest = taken.rest.trimStart();
    if (rest.startsWith(',')) rest = rest.slice(1).trimStart();
    else if (!rest.startsWith('}')) throw new YamlError(`line ${number}: a map does not end`);
  }
}

function plain(text: string): Yaml {
  if (text === '' || text === 'null' || text === '~') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}
