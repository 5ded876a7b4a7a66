/** The server SDK's methods, one for each route that takes an API key, from the route table. */
import { allRoutes, paramNames, type RouteRow, type SdkName, splitAt } from '@parley/contract';
import { type RouteTypeNames, routeTypeNames } from './contract-types.ts';

interface SdkMethod {
  sdk: SdkName;
  route: string;
  row: RouteRow;
  params: string[];
  /** What follows the path parameters: the body if there is one, else the query. */
  takes: 'body' | 'query' | null;
  isOptional: boolean;
  gives: 'one' | 'many' | 'walk' | 'stream';
  names: RouteTypeNames;
}

function sdkMethods(): SdkMethod[] {
  const typeNames = routeTypeNames();
  return Object.entries(allRoutes as Record<string, RouteRow>).flatMap(([route, row]) => {
    if (!row.by.includes('apiKey')) return [];
    if (row.sdk === undefined) throw new Error(`${route} takes an API key: give its row sdk: 'noun.verb'.`);
    const takes = row.body ? 'body' : row.query ? 'query' : null;
    const isOptional = row.isBodyOptional === true || (takes === 'query' && (row.query?.required ?? []).length === 0);
    const names = typeNames.get(route);
    if (!names) throw new Error(`${route} has no types.`);
    const params = paramNames(splitAt(row).path);
    return [{ sdk: row.sdk, route, row, params, takes, isOptional, gives: givesOf(row), names }];
  });
}

function givesOf(row: RouteRow): SdkMethod['gives'] {
  if (row.streams) return 'stream';
  if (row.walk) return 'walk';
  // Only a reading may wait until it is awaited.
  if (splitAt(row).method !== 'GET') return 'one';
  return (row.returns[1] as { type?: string } | null)?.type === 'array' ? 'many' : 'one';
}

/** The interface, with each row's sentence as hover text, and what a bundle needs at run time. */
export function methodsFile(): string {
  const methods = sdkMethods();
  const used = methods.flatMap(({ names, takes }) => [names.answer, names.item, takes && names[takes]]);
  const records = new Set(
    used.flatMap((type) => type?.match(/\b[A-Z]\w*/g) ?? []).filter((name) => !builtIn.has(name)),
  );
  const head = [
    '// Generated from packages/contract by tools/generate.ts. Do not edit.',
    'import type {',
    ...[...records].sort().map((name) => `  ${name},`),
    "} from '@parley/contract/types.gen';",
    "import type { List, Page } from './list.ts';",
    "import type { RequestOptions } from './transport.ts';",
    "import type { WebhookEvent } from './webhooks.ts';",
  ];
  return `${head.join('\n')}

export interface ParleyMethods {
${interfaceOf(methods, [], 1)}
}

/** Name: route, path parameters, what is sent, what comes back, whether Idempotency-Key is taken, how it is walked. */
export const methodRows = {
${methods.map(runtimeRow).join('\n')}
} as const;
`;
}

function interfaceOf(methods: readonly SdkMethod[], path: readonly string[], depth: number): string {
  const pad = '  '.repeat(depth);
  const groups = Map.groupBy(methods, ({ sdk }) => sdk.split('.')[path.length] ?? '');
  return [...groups]
    .map(([name, group]) => {
      const [method] = group;
      if (method?.sdk.split('.').length === path.length + 1) return signature(method, name, pad);
      return `${pad}${name}: {\n${interfaceOf(group, [...path, name], depth + 1)}\n${pad}};`;
    })
    .join('\n');
}

const builtIn = new Set(['Array', 'Partial', 'Record']);

function signature({ row, params, takes, isOptional, gives, names }: SdkMethod, name: string, pad: string): string {
  const input = takes && `${takes}${isOptional ? '?' : ''}: ${names[takes]}`;
  const list = [...params.map((param) => `${param}: string`), ...(input ? [input] : []), 'options?: RequestOptions'];
  return `${pad}/** ${row.does} */\n${pad}${name}(${list.join(', ')}): ${answerOf(gives, names)};`;
}

function answerOf(gives: SdkMethod['gives'], { answer, item }: RouteTypeNames): string {
  switch (gives) {
    case 'one':
      return `Promise<${answer}>`;
    case 'many':
      return `List<Page<${item}>, ${item}>`;
    case 'walk':
      return `List<${answer}, ${item}>`;
    case 'stream':
      return 'AsyncIterable<WebhookEvent>';
  }
}

function runtimeRow({ sdk, route, params, takes, gives: kind, row }: SdkMethod): string {
  const parts = [
    `route: '${route}'`,
    `params: ${params.length}`,
    ...(takes ? [`takes: '${takes}'`] : []),
    `gives: '${kind}'`,
    ...(row.replay ? ['takesKey: true'] : []),
    ...(row.paged ? ['paged: true'] : []),
    ...(row.walk ? [`walk: ${JSON.stringify(row.walk)}`] : []),
  ];
  return `  '${sdk}': { ${parts.join(', ')} },`;
}
