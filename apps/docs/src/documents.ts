import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, renderMarkdown } from './markdown.ts';

export interface DocsPage extends Document {
  href: string;
}

/** Every Markdown file in the folder and its subfolders as a page. */
export function documentsIn(folder: string): DocsPage[] {
  const paths = globSync('**/*.md', { cwd: folder })
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
  const known = new Set(paths.map(hrefOf));
  return paths.map((path) => {
    const source = readFileSync(join(folder, path), 'utf8');
    const document = renderMarkdown(source, (target) => linkFrom(path, target, known));
    return { ...document, title: document.title || nameOf(path), href: hrefOf(path) };
  });
}

export const nameOf = (href: string): string => href.split('/').at(-1) ?? '';

const hrefOf = (path: string): string => `/docs/${path.replace(/\.md$/, '').replace(/\/(README|index)$/, '')}`;

/** A link between files of the repository as the page it has here; '' for what has none. */
export function linkFrom(path: string, target: string, known: ReadonlySet<string>): string {
  if (/^(https?:|\/|#)/.test(target)) return target;
  const { pathname, hash } = new URL(target, `http://docs/docs/${path}`);
  const href = hrefOf(pathname.replace(/^\/docs\//, '').replace(/\/$/, ''));
  if (/^\/docs\/reference\/(routes|errors)$/.test(href)) return `/docs/reference${hash}`;
  return pathname.startsWith('/docs/') && known.has(href) ? `${href}${hash}` : '';
}
