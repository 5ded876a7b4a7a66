/**
 * Renders our chart's templates: the part of Go templates and Helm's functions that they use. It is no `helm template`;
 * it shows that the values reach their places and that what comes out is YAML of the right shape.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseYaml } from 'yaml';

export type Yaml = string | number | boolean | null | Yaml[] | { [key: string]: Yaml };
export type Values = { [key: string]: Yaml };

/** The chart refuses these values, with its own sentence. */
export class ChartRefused extends Error {}

type Node =
  | { kind: 'text'; text: string }
  | { kind: 'value'; pipe: string }
  | { kind: 'block'; word: 'if' | 'range' | 'define'; argument: string; body: Node[] };

interface Scope {
  root: Values;
  variables: Readonly<Record<string, Yaml>>;
  templates: ReadonlyMap<string, Node[]>;
}

/** File name and text of everything the chart makes of these values. */
export function renderChart(folder: string, given: Values): Map<string, string> {
  const values = merged(readValues(join(folder, 'values.yaml')), given);
  const chart = readValues(join(folder, 'Chart.yaml'));
  const root: Values = {
    Values: values,
    Release: { Name: 'test', Namespace: 'calls', Revision: 1 },
    Chart: { AppVersion: chart['appVersion'] ?? '' },
  };
  const files = readdirSync(join(folder, 'templates')).sort();
  const parsed = files.map((name) => [name, parse(readFileSync(join(folder, 'templates', name), 'utf8'))] as const);
  const templates = new Map<string, Node[]>();
  for (const [, nodes] of parsed)
    for (const node of nodes)
      if (node.kind === 'block' && node.word === 'define') templates.set(node.argument.replaceAll('"', ''), node.body);
  const scope: Scope = { root, variables: {}, templates };
  return new Map(
    parsed.filter(([name]) => name.endsWith('.yaml')).map(([name, nodes]) => [name, render(nodes, scope)]),
  );
}

function readValues(path: string): Values {
  const values: Yaml = parseYaml(readFileSync(path, 'utf8'));
  return isMap(values) ? values : refuse(`${path} is no map`);
}

function merged(base: Values, given: Values): Values {
  const out: Values = { ...base };
  for (const [key, value] of Object.entries(given)) {
    const before = out[key];
    out[key] = isMap(before) && isMap(value) ? merged(before, value) : value;
  }
  return out;
}

const isMap = (value: Yaml | undefined): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parse(source: string): Node[] {
  // `{{-` and `-}}` take the white space before and after with them.
  const text = source.replaceAll(/\s*\{\{-/g, '{{').replaceAll(/-\}\}\s*/g, '}}');
  const tokens = text.split(/(\{\{[^}]*\}\})/);
  return parseUntilEnd(tokens, false);
}

function parseUntilEnd(tokens: string[], isInside: boolean): Node[] {
  const nodes: Node[] = [];
  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    const action = /^\{\{\s*(.*?)\s*\}\}$/.exec(token)?.[1];
    const block = action === undefined ? null : /^(if|range|define)\s+(.*)$/.exec(action);
    if (action === undefined) nodes.push({ kind: 'text', text: token });
    else if (block)
      nodes.push({
        kind: 'block',
        word: block[1] as 'if' | 'range' | 'define',
        argument: block[2] ?? '',
        body: parseUntilEnd(tokens, true),
      });
    else if (action === 'end') {
      if (isInside) return nodes;
      throw new Error('an end without a beginning');
    } else nodes.push({ kind: 'value', pipe: action });
  }
  if (isInside) throw new Error('a block does not end');
  return nodes;
}

const render = (nodes: readonly Node[], scope: Scope): string => nodes.map((node) => renderNode(node, scope)).join('');

function renderNode(node: Node, scope: Scope): string {
  if (node.kind === 'text') return node.text;
  if (node.kind === 'value') return String(evaluate(node.pipe, scope) ?? '');
  if (node.word === 'define') return '';
  if (node.word === 'if') {
    const isNot = node.argument.startsWith('not ');
    const isTrue = Boolean(evaluate(node.argument.replace(/^not /, ''), scope));
    return isTrue !== isNot ? render(node.body, scope) : '';
  }
  const [, key = '', item = '', over = ''] = /^\$(\w+), \$(\w+) := (.*)$/.exec(node.argument) ?? [];
  const entries = Object.entries((evaluate(over, scope) ?? {}) as Values);
  return entries
    .map(([name, value]) =>
      render(node.body, { ...scope, variables: { ...scope.variables, [key]: name, [item]: value } }),
    )
    .join('');
}

function evaluate(pipe: string, scope: Scope): Yaml {
  const [first = '', ...rest] = pipe.split(/\s*\|\s*/);
  return rest.reduce<Yaml>((value, call) => apply(wordsOf(call), scope, value), apply(wordsOf(first), scope));
}

const wordsOf = (call: string): string[] => call.match(/"[^"]*"|\S+/g) ?? [];

function apply([name = '', ...words]: readonly string[], scope: Scope, piped?: Yaml): Yaml {
  const args = [...words.map((word) => lookUp(word, scope)), ...(piped === undefined ? [] : [piped])];
  switch (name) {
    case 'include':
      return render(scope.templates.get(String(args[0])) ?? refuse(`no template ${args[0]}`), scope);
    case 'quote':
      return JSON.stringify(String(args[0] ?? ''));
    case 'default':
      return args[1] || (args[0] ?? null);
    case 'required':
      return args[1] || refuse(String(args[0]));
    case 'mul':
      return args.reduce<number>((product, factor) => product * Number(factor), 1);
    case 'toYaml':
      return toYaml(args[0] ?? null);
    case 'nindent':
      return `\n${String(args[1])
        .split('\n')
        .map((line) => ' '.repeat(Number(args[0])) + line)
        .join('\n')}`;
    default:
      return words.length > 0 || piped !== undefined ? refuse(`no function ${name}`) : lookUp(name, scope);
  }
}

function refuse(message: string): never {
  throw new ChartRefused(message);
}

function lookUp(word: string, { root, variables }: Scope): Yaml {
  if (word.startsWith('"')) return word.slice(1, -1);
  if (/^\d+$/.test(word)) return Number(word);
  if (word === '.') return root;
  if (word.startsWith('$')) return variables[word.slice(1)] ?? null;
  const path = word.replace(/^\./, '').split('.');
  // A value that is not given is a typo, not an empty text.
  return path.reduce<Yaml>(
    (scope, key) => (isMap(scope) && key in scope ? (scope[key] ?? null) : refuse(`${word} is in no values`)),
    root,
  );
}

/** JSON is YAML. */
const toYaml = (value: Yaml): string =>
  isMap(value) && Object.keys(value).length > 0 ? mapText(value) : JSON.stringify(value);
const mapText = (map: Values): string =>
  Object.entries(map)
    .map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`)
    .join('\n');
