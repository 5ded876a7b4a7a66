import { escapeHtml } from '../page.ts';
import { highlight } from './highlight.ts';

export interface Document {
  title: string;
  /** The first paragraph, as plain text. */
  lead: string;
  html: string;
}

type LinkOf = (target: string) => string;

/** Our own guides as HTML: the part of Markdown that they use, everything else escaped. */
export function renderMarkdown(source: string, linkOf: LinkOf = (target) => target): Document {
  const lines = source.replaceAll(/<!--[\s\S]*?-->/g, '').split(/\r?\n/);
  const blocks: string[] = [];
  let title = '';
  let lead = '';
  const ids = new Set<string>();
  while (lines.length > 0) {
    const line = lines[0] ?? '';
    const heading = /^(#{1,4}) +(.*?) *#*$/.exec(line);
    if (line.trim() === '') lines.shift();
    else if (line.startsWith('```')) blocks.push(takeCode(lines));
    else if (heading) {
      lines.shift();
      const [, marks = '#', text = ''] = heading;
      if (marks.length === 1 && title === '') title = plain(text);
      blocks.push(headingOf(marks.length, text, ids, linkOf));
    } else if (line.startsWith('|')) blocks.push(takeTable(lines, linkOf));
    else if (/^ {0,3}([-*]|\d+\.) /.test(line)) blocks.push(takeList(lines, linkOf));
    else if (line.startsWith('>')) blocks.push(takeQuote(lines, linkOf));
    else if (/^(-{3,}|\*{3,})$/.test(line.trim())) {
      lines.shift();
      blocks.push('<hr>');
    } else {
      const text = takeParagraph(lines);
      if (lead === '' && title !== '') lead = plain(text);
      blocks.push(`<p>${inline(text, linkOf)}</p>`);
    }
  }
  return { title, lead, html: blocks.join('\n') };
}

const plain = (text: string): string => text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');

/** What GitHub would call the heading, so that links work in both places. */
export const slugOf = (text: string): string =>
  plain(text)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

function headingOf(level: number, text: string, ids: Set<string>, linkOf: LinkOf): string {
  let id = slugOf(text);
  for (let n = 1; ids.has(id); n++) id = `${slugOf(text)}-${n}`;
  ids.add(id);
  return `<h${level} id="${id}">${inline(text, linkOf)}</h${level}>`;
}

function takeCode(lines: string[]): string {
  const language = (lines.shift() ?? '').slice(3).trim().split(/\s/)[0] ?? '';
  const code: string[] = [];
  while (lines.length > 0 && !(lines[0] ?? '').startsWith('```')) code.push(lines.shift() ?? '');
  lines.shift();
  return `<pre tabindex="0"><code>${highlight(code.join('\n'), language)}</code></pre>`;
}

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    // A bar inside code or after a backslash is text.
    .split(/(?<!\\)\|(?=(?:[^`]*`[^`]*`)*[^`]*$)/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));

function takeTable(lines: string[], linkOf: LinkOf): string {
  const rows: string[][] = [];
  while ((lines[0] ?? '').startsWith('|')) rows.push(cellsOf(lines.shift() ?? ''));
  const [head = [], ...rest] = rows;
  const body = rest.filter((cells) => !cells.every((cell) => /^:?-+:?$/.test(cell)));
  const row = (cells: readonly string[], tag: string): string =>
    `<tr>${cells.map((cell) => `<${tag}>${inline(cell, linkOf)}</${tag.split(' ')[0]}>`).join('')}</tr>`;
  return `<div class="table" tabindex="0"><table><thead>${row(head, 'th scope="col"')}</thead><tbody>${body.map((cells) => row(cells, 'td')).join('')}</tbody></table></div>`;
}

/** One list with what is indented under its items: further lists, paragraphs and code. */
function takeList(lines: string[], linkOf: LinkOf): string {
  const isOrdered = /^ {0,3}\d+\./.test(lines[0] ?? '');
  const marker = isOrdered ? /^ {0,3}\d+\. +/ : /^ {0,3}[-*] +/;
  const items: string[] = [];
  while (marker.test(lines[0] ?? '')) {
    const first = lines.shift() ?? '';
    const own = [first.replace(marker, '')];
    while (lines.length > 0 && isInItem(lines)) own.push((lines.shift() ?? '').replace(/^ {1,4}/, ''));
    const { html } = renderMarkdown(own.join('\n'), linkOf);
    // An item of one paragraph needs none around it.
    items.push(`<li>${html.replace(/^<p>([\s\S]*?)<\/p>/, '$1')}</li>`);
  }
  const tag = isOrdered ? 'ol' : 'ul';
  return `<${tag}>${items.join('')}</${tag}>`;
}

function isInItem([line = '', next = '']: readonly string[]): boolean {
  if (line.trim() === '') return /^ {2,}\S/.test(next);
  return /^ {2,}/.test(line) || !/^([-*] |\d+\. |#|\||>|```)/.test(line);
}

function takeQuote(lines: string[], linkOf: LinkOf): string {
  const own: string[] = [];
  while ((lines[0] ?? '').startsWith('>')) own.push((lines.shift() ?? '').replace(/^> ?/, ''));
  return `<blockquote>${renderMarkdown(own.join('\n'), linkOf).html}</blockquote>`;
}

function takeParagraph(lines: string[]): string {
  const own = [lines.shift() ?? ''];
  while (lines.length > 0 && !/^(\s*$|```|#{1,4} |\||>| {0,3}([-*]|\d+\.) )/.test(lines[0] ?? '')) {
    own.push(lines.shift() ?? '');
  }
  return own.join(' ');
}

/** Code first: nothing inside it means anything else. */
export function inline(text: string, linkOf: LinkOf): string {
  return text
    .split(/(`+[^`]+`+)/)
    .map((part) => (/^`.*`$/.test(part) ? `<code>${escapeHtml(part.replaceAll('`', ''))}</code>` : words(part, linkOf)))
    .join('');
}

function words(text: string, linkOf: LinkOf): string {
  return escapeHtml(text)
    .replaceAll(/!?\[([^\]]*)\]\(([^)\s]+)\)/g, (_, label: string, target: string) => anchor(label, linkOf(target)))
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])/g, '<em>$1</em>')
    .replaceAll(/(?<![="\w/>])https?:\/\/[^\s<"')]+[^\s<"').,]/g, (url) => anchor(url, url));
}

/** Only addresses that a guide has reason to name. */
const anchor = (label: string, target: string): string =>
  /^(https?:\/\/|\/|#|\.|[\w-]+(\/|\.md|$))/.test(target) ? `<a href="${target}">${label}</a>` : label;
