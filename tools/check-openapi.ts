/** What generators and readers need of the OpenAPI description beyond what its types make sure of. */
import { allRoutes, openApiOf } from '@parley/contract';
import { finishCheck } from './repository-files.ts';

interface Schema {
  $ref?: string;
  properties?: object;
  items?: Schema;
}
interface Parameter {
  name: string;
  in: string;
  description?: string;
  schema?: Schema;
}
interface Response {
  description?: string;
  headers?: Readonly<Record<string, unknown>>;
  content?: Readonly<Record<string, { schema?: Schema }>>;
}
interface Operation {
  operationId?: string;
  summary?: string;
  tags?: readonly string[];
  security?: readonly object[];
  parameters: readonly Parameter[];
  requestBody?: { content: NonNullable<Response['content']> };
  responses: Readonly<Record<string, Response>>;
}
export interface OpenApi {
  tags: readonly { name: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Everything that is wrong with a description, in sentences. */
export function openApiProblems(document: OpenApi): string[] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ at: `${method.toUpperCase()} ${path}`, path, operation })),
  );
  return [
    ...operations.flatMap(({ at, path, operation }) =>
      [...operationProblems(operation, document), ...parameterProblems(path, operation)].map(
        (text) => `${at}: ${text}`,
      ),
    ),
    ...repeated(operations.map(({ operation }) => operation.operationId ?? '')).map(
      (id) => `${id} names two operations`,
    ),
    ...repeated(Object.keys(document.paths).map((path) => path.replaceAll(/\{\w+\}/g, '{}'))).map(
      (path) => `${path} is there twice, with other names`,
    ),
    ...otherWords(operations.flatMap(({ operation }) => operation.parameters)),
    ...referenceProblems(document),
  ];
}

function operationProblems(
  { operationId, summary, tags, security, requestBody, responses }: Operation,
  { tags: known }: OpenApi,
): string[] {
  const statuses = Object.keys(responses);
  return [
    ...(operationId ? [] : ['no operationId']),
    ...(summary ? [] : ['no summary']),
    ...(security ? [] : ['does not say which credential it takes']),
    ...(tags?.length && tags.every((tag) => known.some(({ name }) => name === tag)) ? [] : ['no tag of the list']),
    ...(statuses.filter((status) => status.startsWith('2')).length > 0 ? [] : ['no answer for success']),
    ...(statuses.includes('500') ? [] : ['no answer for faults']),
    ...Object.values(requestBody?.content ?? {}).flatMap((content) => contentProblems('the body', content)),
    ...Object.entries(responses).flatMap(([status, response]) => responseProblems(status, response)),
  ];
}

function responseProblems(status: string, { description, headers, content }: Response): string[] {
  return [
    ...(description ? [] : [`${status} has no description`]),
    ...(headers?.['x-request-id'] ? [] : [`${status} has no x-request-id`]),
    // What has no body has status 200 or 204 with nothing in it; a refusal always has one.
    ...(content || status.startsWith('2') ? [] : [`${status} has no schema`]),
    ...Object.values(content ?? {}).flatMap((one) => contentProblems(status, one)),
  ];
}

function contentProblems(where: string, { schema }: { schema?: Schema }): string[] {
  if (!schema) return [`${where} has no schema`];
  return 'properties' in schema || (schema.items && 'properties' in schema.items)
    ? [`${where} has a schema without a name`]
    : [];
}

function parameterProblems(path: string, { parameters }: Operation): string[] {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const given = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  return [
    ...(named.join() === given.join() ? [] : [`the path has ${named.join()}, its parameters are ${given.join()}`]),
    ...repeated(parameters.map((parameter) => `${parameter.in} ${parameter.name}`)).map(
      (name) => `${name} is there twice`,
    ),
    ...parameters.flatMap(({ name, description, schema }) => [
      ...(/^[A-Z`].{8,}\.$/s.test(description ?? '') ? [] : [`${name} has no sentence`]),
      ...(schema ? [] : [`${name} has no schema`]),
    ]),
  ];
}

/** One name, one meaning; one meaning, one name. */
function otherWords(parameters: readonly Parameter[]): string[] {
  const distinct = new Map(parameters.map((one) => [`${one.in} ${one.name} ${one.description}`, one]));
  const inPath = [...distinct.values()].filter((one) => one.in === 'path');
  return [
    ...repeated([...distinct.values()].map((one) => `${one.in} ${one.name}`)).map((name) => `${name} means two things`),
    ...repeated(inPath.map(({ description }) => description ?? '')).map((text) => `two names for one thing: ${text}`),
  ];
}

function referenceProblems({ paths, components }: OpenApi): string[] {
  const used = new Set(
    JSON.stringify({ paths, components })
      .match(/"#\/components\/[^"]+"/g)
      ?.map((text) => text.slice(14, -1)),
  );
  const known = Object.entries(components)
    .filter(([kind]) => kind !== 'securitySchemes')
    .flatMap(([kind, parts]) => Object.keys(parts).map((name) => `${kind}/${name}`));
  return [
    ...[...used].filter((reference) => !known.includes(reference)).map((reference) => `${reference} is not there`),
    ...known.filter((reference) => !used.has(reference)).map((reference) => `nothing refers to ${reference}`),
  ];
}

const repeated = (texts: readonly string[]): string[] => [
  ...new Set(texts.filter((text, index) => texts.indexOf(text) !== index)),
];

if (import.meta.main) {
  // Through JSON, as readers get it.
  const document = JSON.parse(JSON.stringify(openApiOf(allRoutes))) as OpenApi;
  const problems = openApiProblems(document);
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const parameters = operations.reduce((sum, { parameters: own }) => sum + own.length, 0);
  const schemas = Object.keys(document.components['schemas'] ?? {}).length;
  if (operations.length < 150 || parameters < 250)
    problems.push(`saw only ${operations.length} operations: the check is broken`);
  finishCheck(problems, `${operations.length} operations, ${parameters} parameters, ${schemas} schemas`);
}
