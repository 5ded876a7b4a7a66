/** The server SDK's methods, one for each route that takes an API key, from the route table. */
import { allRoutes, paramNames, type RouteRow, type SdkName, splitAt } from '@parley/contract';

interface SdkMethod {
  sdk: SdkName;
  route: string;
  row: RouteRow;
  params: string[];
  /** What follows the path parameters: the body if there is one, else the query. */
  takes: 'body' | 'query' | null;
  isOptional: boolean;
  gives: 'one' | 'many' | 'walk' | 'stream';
}

function sdkMethods(): SdkMethod[] {
  return Object.entries(allRoutes as Record<string, RouteRow>).flatMap(([route, row]) => {
    if (!row.by.includes('apiKey')) return [];
    if (row.sdk === undefined) throw new Error(`${route} takes an API key: give its row sdk: 'noun.verb'.`);
    const takes = row.body ? 'body' : row.query ? 'query' : null;
    const isOptional = row.isBodyOptional === true || (takes === 'query' && (row.query?.required ?? []).length === 0);
    return [
      { sdk: row.sdk, route, row, params: paramNames(splitAt(row).path), takes, isOptional, gives: givesOf(row) },
    ];
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
  const head = [
    '// Generated from packages/contract by tools/generate.ts. Do not edit.',
    "import type { Body, Many, One, Query, Streamed, Walked } from './method-types.ts';",
    "import type { RequestOptions } from './transport.ts';",
  ];
  return `${head.join('\n')}

export interface SvcMethods {
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

const gives = { one: 'One', many: 'Many', walk: 'Walked', stream: 'Streamed' } as const;

function signature(
  { row, route, params, takes, isOptional, gives: kind }: SdkMethod,
  name: string,
  pad: string,
): string {
  const input = takes && `${takes}${isOptional ? '?' : ''}: ${takes === 'body' ? 'Body' : 'Query'}<'${route}'>`;
  const list = [...params.map((param) => `${param}: string`), ...(input ? [input] : []), 'options?: RequestOptions'];
  const answer = kind === 'stream' ? gives.stream : `${gives[kind]}<'${route}'>`;
  return `${pad}/** ${row.does} */\n${pad}${name}(${list.join(', ')}): ${answer};`;
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
