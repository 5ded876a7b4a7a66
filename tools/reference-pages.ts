/** The reference in Markdown, one function a page, straight from the tables. */
import {
  allEvents,
  allRoutes,
  closeCodes,
  codesOf,
  developmentOnly,
  type ErrorRow,
  type EventRow,
  errors,
  limitRows,
  permissions,
  type RouteRow,
  replayWindowSeconds,
  rolePermissions,
  splitAt,
} from '@parley/contract';
import { settingRows } from '../apps/server/src/settings.ts';

export const header = (title: string): string =>
  `<!-- Generated from packages/contract by tools/generate.ts. Do not edit. -->\n\n# ${title}\n\n`;

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n') + '\n';

export const code = (text: string): string => `\`${text}\``;

export function routesPage(): string {
  const rows: [string, RouteRow][] = Object.entries(allRoutes);
  const summary = table(
    ['Route', 'Credential', 'Scope', 'Needs', 'Budget', 'Idempotency-Key', 'Does'],
    rows.map(([, row]) => [
      code(row.at),
      row.by.join(', '),
      row.scope ?? '',
      row.needs ?? '',
      budgetOf(row),
      row.replay === undefined ? '' : `${replayWindowSeconds[row.replay] / 60} min`,
      row.does,
    ]),
  );
  return `${header('Routes')}${rows.length} routes. The same as OpenAPI 3.1: \`GET /openapi.json\`.\n\n${summary}\n${rows.map(([name, row]) => routeSection(name, row)).join('\n')}`;
}

/** Of a route that has both, the budget of its users is in the limits guide. */
function budgetOf({ budget, userBudget }: RouteRow): string {
  if (budget !== undefined) return `${budget} per window`;
  return userBudget === undefined ? '' : `${limitRows[userBudget].default} per user and window`;
}

function routeSection(name: string, row: RouteRow): string {
  const { method, path } = splitAt(row);
  const [status, schema] = row.returns;
  const body = row.body ? `\nBody${row.isBodyOptional ? ' (optional)' : ''}: ${fields(row.body)}\n` : '';
  const query = row.query ? `\nQuery: ${fields(row.query)}\n` : '';
  const answer = schema === null ? 'no body' : fields(schema as object);
  return `## ${method} ${path}\n\n${row.does} (\`${name}\`)\n${query}${body}\nAnswers ${status}: ${answer}\n\nErrors: ${codesOf(row).map(code).join(', ')}\n`;
}

export interface SchemaParts {
  type?: string;
  properties?: Record<string, SchemaParts>;
  required?: string[];
  items?: SchemaParts;
  enum?: unknown[];
  anyOf?: SchemaParts[];
  const?: unknown;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
}

/** One line for a schema: names, types and bounds. */
export function fields(schema: SchemaParts): string {
  if (schema.type === 'array' && schema.items) return `list of ${fields(schema.items)}`;
  if (!schema.properties) return typeText(schema);
  const parts = Object.entries(schema.properties).map(
    ([name, part]) => `${code(name)}${schema.required?.includes(name) ? '' : '?'} ${typeText(part)}`,
  );
  return parts.join(', ');
}

export function typeText(schema: SchemaParts): string {
  if (schema.enum) return schema.enum.map(String).join(' / ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map(typeText).join(' or ');
  if (schema.type === 'array' && schema.items) return `${typeText(schema.items)}[]`;
  const low = schema.minLength ?? schema.minimum;
  const high = schema.maxLength ?? schema.maximum;
  const bounds = low === undefined && high === undefined ? '' : ` (${low ?? ''}-${high ?? ''})`;
  return `${schema.type ?? 'any'}${bounds}`;
}

export function errorsPage(): string {
  const rows = Object.entries(errors as Record<string, ErrorRow>).map(([name, row]) => [
    code(name),
    String(row.status),
    code(row.legacy),
    row.message,
    Object.keys(row.fields ?? {})
      .map(code)
      .join(', '),
    row.isRetryable ? 'yes' : '',
  ]);
  return `${header('Errors')}Every error is \`{ code, legacyCode, message, requestId, path }\` and the fields of its row.\n\n${table(['Code', 'Status', 'legacyCode', 'Message', 'Adds', 'Retry'], rows)}`;
}

export function limitsPage(): string {
  const rows = Object.entries(limitRows).map(([name, row]) => [
    code(name),
    String(row.default),
    row.unit,
    row.bounds,
    `${row.min} to ${row.max === Number.MAX_SAFE_INTEGER ? 'any' : row.max}`,
  ]);
  return `${header('Limits')}Each is a variable of the same name.\n\n${table(['Variable', 'Default', 'Unit', 'Bounds', 'Allowed'], rows)}`;
}

export function settingsPage(): string {
  const rows = settingRows.map((row) => [
    code(row.name),
    row.isSecret ? `${row.takes}; secret` : row.takes,
    row.default,
    row.means,
  ]);
  return `${header('Settings')}A variable that is malformed, or that looks like one of ours and is not, stops the start with its name.\n\n${table(['Variable', 'Value', 'Default', 'Meaning'], rows)}`;
}

export function eventsPage(): string {
  const rows = Object.entries(allEvents as Record<string, EventRow>).map(([name, row]) => [
    code(name),
    row.onRequest ? `${row.when} On request, with ${code(row.onRequest)}.` : row.when,
    fields(row.data as SchemaParts),
    row.since,
  ]);
  return `${header('Events')}Delivered as webhooks in \`{ id, type, projectId, environment, createdAt, data }\`. An event on request goes to endpoints that name it, not to those that take all.\n\n${table(['Event', 'When', 'data', 'Since'], rows)}`;
}

export function permissionsPage(): string {
  const roles = Object.keys(rolePermissions) as (keyof typeof rolePermissions)[];
  const rows = permissions.map((permission) => [
    code(permission),
    ...roles.map((role) => (rolePermissions[role].includes(permission) ? 'yes' : '')),
  ]);
  return `${header('Permissions')}A developer holds ${(developmentOnly.DEVELOPER ?? []).map(code).join(', ')} in development only. \`server:*\` belongs to operators of the instance.\n\n${table(['Permission', ...roles], rows)}`;
}

export function closeCodesPage(): string {
  const rows = Object.entries(closeCodes).map(([number, row]) => [number, row.meaning, row.client]);
  return `${header('Socket close codes')}${table(['Code', 'Meaning', 'Client'], rows)}`;
}
