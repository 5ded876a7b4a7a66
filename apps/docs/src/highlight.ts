import { escapeHtml } from '@parley/page-build/html';

const keywords =
  'as|async|await|break|case|catch|class|const|continue|default|else|export|extends|finally|for|from|function|if|import|in|instanceof|interface|let|new|null|of|return|switch|throw|true|false|try|type|typeof|undefined|while';

const script = [
  ['comment', '\\/\\/[^\\n]*|\\/\\*[\\s\\S]*?\\*\\/'],
  ['string', '\'(?:\\\\.|[^\'\\\\\\n])*\'|"(?:\\\\.|[^"\\\\\\n])*"|`(?:\\\\.|[^`\\\\])*`'],
  ['keyword', `\\b(?:${keywords})\\b`],
  ['number', '\\b\\d[\\d_]*(?:\\.\\d+)?\\b'],
] as const;
const pythonKeywords =
  'and|as|async|await|class|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|None|not|or|pass|raise|return|True|False|try|while|with|yield';
const python = [
  ['comment', '#[^\\n]*|"""[\\s\\S]*?"""'],
  ['string', '\'(?:\\\\.|[^\'\\\\\\n])*\'|"(?:\\\\.|[^"\\\\\\n])*"'],
  ['keyword', `\\b(?:${pythonKeywords})\\b`],
  ['number', '\\b\\d[\\d_]*(?:\\.\\d+)?\\b'],
] as const;
const shell = [
  ['comment', '(?:^|(?<=\\s))#[^\\n]*'],
  ['string', '\'[^\']*\'|"(?:\\\\.|[^"\\\\])*"'],
  ['keyword', '(?:^|(?<=\\n))(?:curl|npm|npx|node|docker|helm|systemctl|export|parley)\\b'],
] as const;

const languages: Readonly<Record<string, readonly (readonly [kind: string, pattern: string])[]>> = {
  ts: script,
  tsx: script,
  js: script,
  typescript: script,
  javascript: script,
  json: script,
  python,
  sh: shell,
  bash: shell,
  shell,
  yaml: shell,
};

/** Colours for the few languages our guides are written in. Colour adds; it carries no meaning of its own. */
export function highlight(code: string, language: string): string {
  const rules = languages[language];
  if (!rules) return escapeHtml(code);
  const all = new RegExp(rules.map(([kind, pattern]) => `(?<${kind}>${pattern})`).join('|'), 'g');
  let html = '';
  let last = 0;
  for (const match of code.matchAll(all)) {
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0];
    html += `${escapeHtml(code.slice(last, match.index))}<span class="${kind}">${escapeHtml(match[0])}</span>`;
    last = match.index + match[0].length;
  }
  return html + escapeHtml(code.slice(last));
}
