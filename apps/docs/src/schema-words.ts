import { escapeHtml } from '@parley/page-build/html';
import type { TSchema } from 'typebox';

/** As much of JSON Schema as the contract writes. */
export interface Schema {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  patternProperties?: Record<string, Schema>;
}

const depthMax = 3;

/** The fields of a body, a query or an answer, one a row; fields of fields are indented by their path. */
export function schemaTable(schema: TSchema): string {
  // TypeBox schemas are JSON Schema by construction.
  const root = schema as Schema;
  const inner = root.type === 'array' && root.items ? root.items : root;
  const rows = rowsOf(inner, '', 1);
  const note = root === inner ? '' : '<p class="note">A list of:</p>';
  if (rows.length === 0) return `<p><code>${escapeHtml(typeWords(root))}</code></p>`;
  return `${note}<div class="table" tabindex="0"><table><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Bounds</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function rowsOf(schema: Schema, path: string, depth: number): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const isOptional = !schema.required?.includes(name);
    const inner = innerOf(field);
    const own = `<tr><td><code>${path}${escapeHtml(name)}</code>${isOptional ? ' <span class="note">optional</span>' : ''}</td><td>${escapeHtml(typeWords(field))}</td><td>${escapeHtml(boundsOf(field))}</td></tr>`;
    const deeper = inner?.properties && depth < depthMax ? rowsOf(inner, `${path}${name}.`, depth + 1) : [];
    return [own, ...deeper];
  });
}

/** The object inside a list or behind "or null". */
function innerOf(schema: Schema): Schema | undefined {
  if (schema.properties) return schema;
  if (schema.items) return innerOf(schema.items);
  return schema.anyOf?.map(innerOf).find((one) => one !== undefined);
}

function typeWords(schema: Schema): string {
  if (schema.anyOf) return schema.anyOf.map(typeWords).join(' or ');
  if (schema.enum) return schema.enum.map(String).join(', ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === 'array') return `list of ${schema.items ? typeWords(schema.items) : 'anything'}`;
  if (schema.patternProperties) return 'object of the caller’s own';
  return schema.format ?? schema.type ?? 'anything';
}

function boundsOf(schema: Schema): string {
  const { minLength, maxLength, minimum, maximum, maxItems, pattern, items } = schema;
  const range = (low: number | undefined, high: number | undefined, unit: string): string[] => {
    if (low === undefined && high === undefined) return [];
    if (high === undefined || high === Number.MAX_SAFE_INTEGER)
      return low === undefined ? [] : [`at least ${low}${unit}`];
    return [low === undefined ? `at most ${high}${unit}` : `${low} to ${high}${unit}`];
  };
  return [
    ...range(minLength, maxLength, ' characters'),
    ...range(minimum, maximum, ''),
    ...range(undefined, maxItems, ' entries'),
    ...(pattern === undefined ? [] : [pattern]),
    ...(items ? [boundsOf(items)].filter((bounds) => bounds !== '').map((bounds) => `each ${bounds}`) : []),
    ...(schema.anyOf?.map(boundsOf).filter((bounds) => bounds !== '') ?? []),
  ].join('; ');
}
