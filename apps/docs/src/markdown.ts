import { escapeHtml } from '@parley/page-build/html';
import { Marked, type Token, type Tokens } from 'marked';
import { highlight } from './highlight.ts';

export interface Document {
  title: string;
  /** The first paragraph, as plain text. */
  lead: string;
  html: string;
}

/** The address a link has on our pages; '' where it has none, and only its words are shown. */
export type LinkOf = (target: string) => string;

/** A document as HTML. Its comments are left out; any other HTML in it is shown as text. */
export function renderMarkdown(source: string, linkOf: LinkOf): Document {
  const marked = createMarked(linkOf);
  const tokens = marked.lexer(source);
  const titleAt = tokens.findIndex((token) => token.type === 'heading' && token.depth === 1);
  const lead = tokens.slice(titleAt + 1).find((token) => token.type === 'paragraph');
  return { title: plainText(tokens[titleAt]), lead: plainText(lead), html: marked.parser(tokens) };
}

function createMarked(linkOf: LinkOf): Marked {
  const ids = new Set<string>();
  const anchor = (target: string, label: string): string => {
    const href = linkOf(target);
    return href === '' ? label : `<a href="${escapeHtml(href)}">${label}</a>`;
  };
  return new Marked({
    // Without a token, HTML is words like any other. `false` is marked's way to say "as usual".
    tokenizer: {
      html: (source) => (isComment(source) ? false : undefined),
      tag: (source) => (isComment(source) ? false : undefined),
    },
    renderer: {
      html: () => '',
      heading({ depth, tokens }) {
        const id = freeId(slugOf(tokens.map(plainText).join('')), ids);
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      code: ({ text, lang = '' }) =>
        `<pre tabindex="0"><code>${highlight(text, lang.split(/\s/)[0] ?? '')}</code></pre>\n`,
      table({ header, rows }) {
        const row = (cells: readonly Tokens.TableCell[], open: string, close: string): string =>
          `<tr>${cells.map(({ tokens }) => `${open}${this.parser.parseInline(tokens)}${close}`).join('')}</tr>`;
        const head = row(header, '<th scope="col">', '</th>');
        const body = rows.map((cells) => row(cells, '<td>', '</td>')).join('');
        return `<div class="table" tabindex="0"><table><thead>${head}</thead><tbody>${body}</tbody></table></div>\n`;
      },
      link({ href, tokens }) {
        return anchor(href, this.parser.parseInline(tokens));
      },
      // The pages are text: a picture is a link to it.
      image: ({ href, text }) => anchor(href, escapeHtml(text)),
    },
  });
}

const isComment = (source: string): boolean => /^ {0,3}<!--/.test(source);

function plainText(token: Token | undefined): string {
  if (token === undefined || token.type === 'html') return '';
  if ('tokens' in token && token.tokens) return token.tokens.map(plainText).join('');
  return 'text' in token ? token.text : token.raw;
}

/** What GitHub would call the heading, so that links work in both places. */
const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

function freeId(slug: string, taken: Set<string>): string {
  let id = slug;
  for (let n = 1; taken.has(id); n++) id = `${slug}-${n}`;
  taken.add(id);
  return id;
}
