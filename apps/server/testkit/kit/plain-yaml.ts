export type Plain = string | Plain[] | { [name: string]: Plain };

interface Line {
  indent: number;
  text: string;
  number: number;
}

/**
 * Reads plain YAML: maps, lists and one-line scalars, two blanks a level. Throws with the line at anything else, so that
 * what passes here means the same to every real reader.
 */
export function readPlainYaml(source: string): Plain {
  const lines = source.split('\n').flatMap((text, index): Line[] => {
    if (/^\s*(#.*)?$/.test(text)) return [];
    const indent = text.search(/\S/);
    if (/\t/.test(text) || indent % 2 !== 0) throw new Error(`line ${index + 1}: indent by two blanks`);
    return [{ indent, text: text.trim(), number: index + 1 }];
  });
  const { value, next } = readBlock(lines, 0, 0);
  if (next < lines.length) throw new Error(`line ${lines[next]?.number}: not understood`);
  return value;
}

function readBlock(lines: readonly Line[], start: number, indent: number): { value: Plain; next: number } {
  const isList = lines[start]?.text.startsWith('- ') ?? false;
  return isList ? readList(lines, start, indent) : readMap(lines, start, indent);
}

function readList(lines: readonly Line[], start: number, indent: number): { value: Plain[]; next: number } {
  const value: Plain[] = [];
  let next = start;
  for (let line = lines[next]; line && line.indent === indent && line.text.startsWith('- '); line = lines[next]) {
    // An item's own map stands two blanks further in, where its first name already is.
    const first = { ...line, indent: indent + 2, text: line.text.slice(2) };
    const item = readMap([...lines.slice(0, next), first, ...lines.slice(next + 1)], next, indent + 2);
    value.push(item.value);
    next = item.next;
  }
  return { value, next };
}

function readMap(
  lines: readonly Line[],
  start: number,
  indent: number,
): { value: Record<string, Plain>; next: number } {
  const value: Record<string, Plain> = {};
  let next = start;
  for (let line = lines[next]; line && line.indent === indent && !line.text.startsWith('- '); line = lines[next]) {
    const [, name, scalar = ''] = /^([\w.-]+):(?: (.+))?$/.exec(line.text) ?? [];
    if (name === undefined || name in value) throw new Error(`line ${line.number}: not a new name and its value`);
    next++;
    if (scalar !== '') value[name] = readScalar(scalar, line.number);
    else {
      const block = readBlock(lines, next, indent + 2);
      value[name] = block.value;
      next = block.next;
    }
  }
  if (next === start) throw new Error(`line ${lines[start]?.number ?? 'last'}: something is missing`);
  return { value, next };
}

/** What would mean more than its letters must be quoted, and we have no need for it. */
function readScalar(text: string, number: number): string {
  if (/^[[\]{}&*!|>%@`"'#-]|: | #/.test(text)) throw new Error(`line ${number}: quote or avoid "${text}"`);
  return text;
}
