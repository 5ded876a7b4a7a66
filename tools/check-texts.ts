/** What people read in the dashboard stands in its catalogue (apps/dashboard/src/i18n), not in the components. */
import { readFileSync } from 'node:fs';
import { parseAst } from 'vite';
import { finishCheck, repositoryFiles } from './repository-files.ts';

interface Node {
  type: string;
  start: number;
  [field: string]: unknown;
}

interface Text {
  start: number;
  text: string;
}

/** Attributes that nobody reads. */
const silent =
  /^(className|style|key|id|href|src|type|role|name|path|d|viewBox|fill|rel|autoComplete|tone|shape|variant|kind|buttonClass|align|data-.*|aria-(controls|labelledby|describedby|current|haspopup|live))$/;
/** Calls whose strings are keys, selectors or for us. */
const forPrograms = /^(t|withNodes|querySelector|querySelectorAll|matchMedia|matches|closest|\w*Error|RegExp)$/;
/** Names of keys, units, classes and products are the same in every language. */
const names =
  /^(Arrow\w+|Enter|Escape|Esc|CapsLock|Ctrl K|Bearer|Parley|UTC|Raw|[GM]bit\/s|button button-\w+|curl .*|import \{.*|npm start)$/s;
/** A word with a capital, several words, or a word between the values of a template. */
const isProse = (text: string): boolean =>
  /^\s*[A-Z][a-z]+\b/.test(text) ||
  /[a-z,.:] [a-zA-Z(]/.test(text) ||
  /^[\d,.]* [a-z]{2,}( |$)|^[a-z]{2,} $/.test(text);

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

function calleeName({ callee }: Node): string {
  if (!isNode(callee)) return '';
  const { name, property } = callee;
  return typeof name === 'string' ? name : isNode(property) ? String(property['name']) : '';
}

/** Whether what is below is never shown. */
function isSilent(node: Node): boolean {
  if (/^(Import|TS(Type|Interface|Literal|Union|Enum)|TaggedTemplate)/.test(node.type)) return true;
  if (node.type === 'JSXAttribute') return isNode(node['name']) && silent.test(String(node['name']['name']));
  if (node.type === 'BinaryExpression') return /^[!=]==$/.test(String(node['operator']));
  return node.type === 'TemplateLiteral' && names.test(textOf(node) ?? '');
}

function textOf(node: Node): string | null {
  const { type, value, quasis } = node;
  if ((type === 'Literal' || type === 'JSXText') && typeof value === 'string') return value;
  if (type === 'TemplateLiteral' && Array.isArray(quasis)) return quasis.map(textOf).join('{}');
  // The tree of a template holds its raw and its cooked text.
  return type === 'TemplateElement' ? String((value as { cooked: string }).cooked) : null;
}

/** Texts in one file, and where. */
function textsIn(source: string, lang: 'ts' | 'tsx'): Text[] {
  const found: Text[] = [];
  const visit = (node: Node): void => {
    if (isSilent(node)) return;
    const text = node.type === 'TemplateLiteral' ? null : textOf(node);
    if (text !== null) {
      const isShown = node.type === 'JSXText' ? /\p{L}/u.test(text) : isProse(text);
      if (isShown && !names.test(text.trim()))
        found.push({ start: node.start, text: text.trim().replace(/\s+/g, ' ') });
      return;
    }
    const isCallForPrograms = forPrograms.test(calleeName(node));
    for (const [field, value] of Object.entries(node)) {
      if (field === 'key' && node['computed'] !== true) continue;
      for (const child of Array.isArray(value) ? value : [value]) {
        if (isNode(child) && !(isCallForPrograms && child.type === 'Literal')) visit(child);
      }
    }
  };
  // The parser's own types name every kind of node; these few fields are all that is looked at.
  visit(parseAst(source, { lang }) as unknown as Node);
  return found;
}

const files = repositoryFiles('apps/dashboard/src/**/*.ts', 'apps/dashboard/src/**/*.tsx').filter(
  (path) => !path.includes('/i18n/') && !path.endsWith('.test.ts') && !path.endsWith('.d.ts'),
);
const problems = files.length < 150 ? [`saw only ${files.length} files of the dashboard`] : [];
for (const path of files) {
  const source = readFileSync(path, 'utf8');
  const found = textsIn(source, path.endsWith('x') ? 'tsx' : 'ts');
  for (const { start, text } of found)
    problems.push(`${path}:${source.slice(0, start).split('\n').length} is not in the catalogue: ${text}`);
}
finishCheck(problems, `${files.length} files of the dashboard have no texts outside the catalogue`);
