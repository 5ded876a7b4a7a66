import { codesOf, errors, type RouteRow, type Routes, splitAt } from '@parley/contract';
import type { TSchema } from 'typebox';
import { escapeHtml, page } from './page.ts';

/** The API reference as one page without scripts, straight from the route table. */
export function referencePage(table: Routes): string {
  const groups = Map.groupBy(Object.entries(table), ([, row]) => groupOf(splitAt(row).path));
  const sections = [...groups].map(([group, rows]) => section(group, rows));
  const links = [...groups.keys()].map((group) => `<a href="#${group}">${group}</a>`);
  return page(
    'Parley API reference',
    `<header><h1>API reference</h1><p>${Object.keys(table).length} routes. Machine-readable: <a href="/openapi.json">openapi.json</a>.</p><nav aria-label="Groups">${links.join(' ')}</nav></header>
<main id="content">${sections.join('\n')}${errorSection()}</main>`,
  );
}

const groupOf = (path: string): string => {
  const [, first = 'other', second = '', third] = path.split('/').filter(Boolean);
  if (first !== 'projects') return first;
  return third === undefined ? (second.startsWith('{') || second === '' ? 'projects' : second) : third;
};

function section(group: string, rows: readonly (readonly [string, RouteRow])[]): string {
  return `<section aria-labelledby="${group}"><h2 id="${group}">${group}</h2>${rows.map(([name, row]) => route(name, row)).join('\n')}</section>`;
}

function route(name: string, row: RouteRow): string {
  const { method, path } = splitAt(row);
  const [status, schema] = row.returns;
  const facts = [
    ['Credential', row.by.join(', ')],
    ['Permission', row.needs],
    ['Budget', row.budget === undefined ? undefined : `${row.budget} per window`],
    ['Idempotency-Key', row.replay === undefined ? undefined : 'accepted'],
    ['Errors', codesOf(row).join(', ')],
  ].filter(([, value]) => value !== undefined && value !== '');
  return `<details id="${name}"><summary><code class="${method.toLowerCase()}">${method}</code> <code>${escapeHtml(path)}</code> <span>${escapeHtml(row.does)}</span></summary>
<dl>${facts.map(([label, value]) => `<dt>${label}</dt><dd>${escapeHtml(value ?? '')}</dd>`).join('')}</dl>
${schemaBlock('Query', row.query)}${schemaBlock('Body', row.body)}${schemaBlock(`Answer ${status}`, schema)}</details>`;
}

const schemaBlock = (title: string, schema: TSchema | null | undefined): string =>
  schema ? `<h3>${title}</h3><pre tabindex="0">${escapeHtml(JSON.stringify(schema, null, 2))}</pre>` : '';

function errorSection(): string {
  const rows = Object.entries(errors).map(
    ([code, row]) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${row.status}</td><td>${escapeHtml(row.message)}</td></tr>`,
  );
  return `<section aria-labelledby="errors"><h2 id="errors">Errors</h2><table><thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Message</th></tr></thead><tbody>${rows.join('')}</tbody></table></section>`;
}

/** Served from our own origin: the page's policy allows no inline style. */
export const referenceCss = `
:root { color-scheme: light dark; --bg: #fff; --surface: #f7f8f8; --line: #dfe3e6; --text: #14181d; --text-2: #4a535d; --accent: #1f5fd0; }
@media (prefers-color-scheme: dark) { :root { --bg: #111417; --surface: #161a1e; --line: #2a3036; --text: #e8ebee; --text-2: #aab3bc; --accent: #7aa9ff; } }
body { margin: 0 auto; max-width: 1100px; padding: 24px 16px 64px; font: 14px/20px system-ui, sans-serif; background: var(--bg); color: var(--text); }
a { color: var(--accent); } h1 { font-size: 20px; } h2 { font-size: 16px; margin-top: 32px; } h3 { font-size: 12px; color: var(--text-2); }
nav a { display: inline-block; padding: 4px 8px 4px 0; min-height: 24px; }
details { border: 1px solid var(--line); border-radius: 6px; margin: 8px 0; background: var(--surface); }
summary { padding: 8px 12px; cursor: pointer; overflow-wrap: anywhere; } summary span { color: var(--text-2); }
summary:focus-visible, a:focus-visible, pre:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
dl { margin: 8px 12px; } dt { color: var(--text-2); font-size: 12px; } dd { margin: 0 0 8px; overflow-wrap: anywhere; }
h3, pre { margin-left: 12px; margin-right: 12px; } pre { overflow: auto; font-size: 12px; }
table { border-collapse: collapse; display: block; overflow-x: auto; } td, th { text-align: left; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); }
.skip { position: absolute; left: -999px; } .skip:focus { position: static; }
`;
