import { codesOf, errors, paramNames, type RouteRow, type Routes, splitAt } from '@parley/contract';
import { escapeHtml } from '@parley/page-build/html';
import { publicUrlMark } from '../files.ts';
import { highlight } from './highlight.ts';
import { type Schema, schemaTable } from './schema-words.ts';

type RouteGroup = readonly [name: string, rows: readonly (readonly [string, RouteRow])[]];

/** Routes by what they are about, whichever door they are behind. */
export const groupsOf = (table: Routes): RouteGroup[] => [
  ...Map.groupBy(Object.entries(table), ([, row]) => groupOf(splitAt(row).path)),
];

function groupOf(path: string): string {
  const [, first = 'other', , third] = path.split('/').filter(Boolean);
  const name = first === 'projects' ? (third ?? 'projects') : first;
  return parts[name] ?? name;
}

/** Too few routes for a page of their own. */
const parts: Readonly<Record<string, string>> = {
  project: 'projects',
  'allowed-origins': 'projects',
  archive: 'projects',
  members: 'projects',
  'webhook-event-types': 'webhooks',
  events: 'webhooks',
  errors: 'observability',
  connections: 'observability',
  metrics: 'observability',
  diagnostics: 'observability',
  telemetry: 'observability',
};

export const groupTitle = (name: string): string => {
  const words = name.replaceAll('-', ' ');
  return titles[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
};
const titles: Readonly<Record<string, string>> = { 'api-keys': 'API keys', auth: 'Accounts', rtc: 'Media nodes' };

const credentials: Readonly<Record<string, string>> = {
  apiKey: 'API key',
  chatToken: 'chat token',
  rtcToken: 'RTC token',
  session: 'dashboard session',
  sfuSecret: 'media node secret',
  none: 'none',
};

/** Every route in one list, and every error code. */
export function referenceIndex(groups: readonly RouteGroup[]): string {
  const count = groups.reduce((sum, [, rows]) => sum + rows.length, 0);
  const lists = groups.map(
    ([group, rows]) =>
      `<section aria-labelledby="${group}"><h2 id="${group}"><a href="/docs/reference/${group}">${groupTitle(group)}</a></h2><ul class="routes">${rows.map(([name, row]) => `<li id="${name}"><a href="/docs/reference/${group}#${name}">${signature(row)}</a> <span class="note">${escapeHtml(row.does)}</span></li>`).join('')}</ul></section>`,
  );
  return `<h1>API reference</h1><p class="lead">${count} routes, derived from the contract that the server itself runs. Machine-readable: <a href="/openapi.json">openapi.json</a>.</p>${lists.join('\n')}${errorTable()}`;
}

const signature = (row: RouteRow): string => {
  const { method, path } = splitAt(row);
  return `<code class="method ${method.toLowerCase()}">${method}</code> <code>${escapeHtml(path)}</code>`;
};

function errorTable(): string {
  const rows = Object.entries(errors).map(
    ([code, { status, message }]) =>
      `<tr id="${code}"><td><a href="/docs/guides/errors/${code}"><code>${code}</code></a></td><td>${status}</td><td>${escapeHtml(message)}</td></tr>`,
  );
  return `<section aria-labelledby="errors"><h2 id="errors">Errors</h2><p>Every error has the same body: <code>code</code>, <code>message</code>, <code>requestId</code> and what the code adds. Switch on <code>code</code>.</p><div class="table" tabindex="0"><table><thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Message</th></tr></thead><tbody>${rows.join('')}</tbody></table></div></section>`;
}

/** The routes of one group in full. */
export function groupPage([group, rows]: RouteGroup): string {
  return `<h1>${groupTitle(group)}</h1>${rows.map(([name, row]) => routeSection(name, row)).join('\n')}`;
}

function routeSection(name: string, row: RouteRow): string {
  const [status, answer] = row.returns;
  const facts = [
    ['Credential', row.by.map((kind) => credentials[kind] ?? kind).join(' or ')],
    ['Scope of a bounded key', row.scope],
    ['Permission', row.needs],
    ['Budget', row.budget === undefined ? undefined : `${row.budget} requests a window`],
    ['Idempotency-Key', row.replay === undefined ? undefined : 'accepted: a repeat gets the first answer'],
    ['Paging', row.paged ? 'limit and cursor; the next cursor is in x-next-cursor' : undefined],
  ].filter(([, value]) => value !== undefined);
  const codes = codesOf(row).map((code) => `<a href="/docs/guides/errors/${code}"><code>${code}</code></a>`);
  return `<section class="route" aria-labelledby="${name}"><h2 id="${name}">${signature(row)}</h2><p>${escapeHtml(row.does)}</p>
<dl>${facts.map(([label, value]) => `<div><dt>${label}</dt><dd>${escapeHtml(value ?? '')}</dd></div>`).join('')}<div><dt>In the SDK</dt><dd><code>${name}</code></dd></div></dl>
${part('Query', row.query)}${part('Body', row.body)}
<details><summary>Answer ${status}</summary>${answer ? schemaTable(answer) : '<p class="note">Without a body.</p>'}</details>
<details><summary>Errors <span>${codes.length}</span></summary><p class="codes">${codes.join(' ')}</p></details>
<pre tabindex="0"><code>${highlight(curlOf(row), 'sh')}</code></pre></section>`;
}

const part = (title: string, schema: RouteRow['query']): string =>
  schema && Object.keys(schema.properties).length > 0 ? `<h3>${title}</h3>${schemaTable(schema)}` : '';

const variables: Readonly<Record<string, string>> = {
  apiKey: '$SVC_API_KEY',
  chatToken: '$CHAT_TOKEN',
  rtcToken: '$RTC_TOKEN',
  session: '$ACCESS_TOKEN',
  sfuSecret: '$SFU_REGISTRATION_SECRET',
};

/** The call as a command line; path parameters are variables of the shell. */
function curlOf(row: RouteRow): string {
  const { method, path } = splitAt(row);
  const filled = paramNames(path).reduce((text, name) => text.replace(`{${name}}`, `$${name}`), path);
  const credential = variables[row.by[0] ?? 'none'];
  return [
    `curl -s${method === 'GET' ? '' : ` -X ${method}`} "${publicUrlMark}${filled}"`,
    ...(credential ? [`  -H "Authorization: Bearer ${credential}"`] : []),
    ...(row.body ? [`  -H 'Content-Type: application/json' -d '${JSON.stringify(sampleOf(row.body))}'`] : []),
  ].join(' \\\n');
}

/** The fields that have to be there, with something in them. */
function sampleOf(body: NonNullable<RouteRow['body']>): Record<string, unknown> {
  const { required = [], properties = {} }: Schema = body;
  return Object.fromEntries(
    required.map((name) => {
      const field = properties[name] ?? {};
      if (field.enum) return [name, field.enum[0]];
      if (field.type === 'integer' || field.type === 'number') return [name, field.minimum ?? 1];
      if (field.type === 'boolean') return [name, true];
      if (field.type === 'array') return [name, []];
      if (field.type === 'object') return [name, {}];
      return [name, field.format === 'date-time' ? '2026-01-01T00:00:00.000Z' : '…'];
    }),
  );
}
