import type { TObject, TSchema } from 'typebox';
import { type ErrorCode, ErrorEnvelope, errors } from './errors.ts';
import { idempotencyKeyHeader, type PathParameterRow, pathParameters, queryParameters } from './parameters.ts';
import { type Credential, paramNames, type RouteRow, type Routes, splitAt } from './route.ts';
import { createSchemaNames } from './schema-names.ts';

/** OpenAPI 3.1 from the route table: TypeBox schemas are JSON Schema already. */
export function openApiOf(table: Routes, info: OpenApiInfo = ownInfo) {
  const components = createComponents();
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, row] of Object.entries(table)) {
    const { method, path } = splitAt(row);
    const shown = shownPath(path);
    paths[shown] = { ...paths[shown], [method.toLowerCase()]: operationOf(name, row, components) };
  }
  const tags = [...new Set(Object.values(table).map((row) => tagOf(splitAt(row).path)))];
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: { securitySchemes, headers, schemas: { Error: ErrorEnvelope, ...components.schemas } },
  };
}

interface OpenApiInfo {
  title: string;
  version: string;
  description?: string;
}

const ownInfo: OpenApiInfo = {
  title: 'Parley',
  version: '1',
  description:
    'Rooms, chat, live streams and webhooks. Errors have one shape: switch on `code`. Clients ignore fields that they do not know.',
};

const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description });
const securitySchemes: Readonly<Record<Exclude<Credential, 'none'>, object>> = {
  apiKey: bearer('Project API key: svk_<env>_<publicId>.<secret>'),
  chatToken: bearer('Chat token of one end user'),
  rtcToken: bearer('RTC token of one participant'),
  session: bearer('Dashboard session (JWT)'),
  sfuSecret: bearer('SFU registration secret'),
};

const headerOf = (description: string, schema: object = { type: 'string' }) => ({ description, schema });
const headers = {
  'x-request-id': headerOf('Names the request: give it when you ask for help.'),
  'x-next-cursor': headerOf('Where the next page starts: send it as `cursor`. Left out by the last page.'),
  'retry-after': headerOf('Seconds until the same call may succeed.', { type: 'integer' }),
  location: headerOf('The session: `DELETE` it to end the stay.'),
} as const;
const headerRefs = (...names: (keyof typeof headers)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Each named schema once, among the components; what has no name gets that of its operation. */
function createComponents() {
  const nameOf = createSchemaNames();
  const schemas: Record<string, object> = {};

  function refer(name: string, schema: object): object {
    if (!schemas[name]) {
      schemas[name] = {};
      schemas[name] = withRefs(schema);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** The parts of a schema, with references for those that have a name. */
  const withRefs = (schema: object): object =>
    Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, partOf(part)]));

  function partOf(part: unknown): unknown {
    if (Array.isArray(part)) return part.map(partOf);
    return typeof part === 'object' && part !== null ? inner(part) : part;
  }

  function inner(schema: object): object {
    const name = nameOf(schema);
    return name === undefined ? withRefs(schema) : refer(name, schema);
  }

  return {
    schemas,
    /** Of a body or an answer. */
    use: (schema: object, fallback: string): object =>
      nameOf(schema) === undefined && 'properties' in schema ? refer(fallback, schema) : inner(schema),
    inner,
  };
}
type Components = ReturnType<typeof createComponents>;

function operationOf(name: string, row: RouteRow, components: Components) {
  const { path } = splitAt(row);
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  return {
    operationId: name,
    summary: row.does,
    tags: [tagOf(path)],
    security: row.by.includes('none') ? [] : row.by.map((credential) => ({ [credential]: [] })),
    parameters: [...inPath(path), ...inQuery(row.query, components), ...inHeader(row)],
    ...(row.body
      ? { requestBody: { required: !row.isBodyOptional, content: json(components.use(row.body, `${title}Body`)) } }
      : {}),
    ...(row.speaks ? { requestBody: { required: true, content: text(row.speaks) } } : {}),
    responses: { ...successOf(row, (schema) => components.use(schema, `${title}Answer`)), ...failuresOf(codesOf(row)) },
    ...(row.budget ? { 'x-rate-limit': row.budget } : {}),
    ...(row.needs ? { 'x-permission': row.needs } : {}),
    ...(row.scope ? { 'x-scope': row.scope } : {}),
  };
}

const json = (schema: TSchema | object) => ({ 'application/json': { schema } });
const text = (mediaType: string) => ({ [mediaType]: { schema: { type: 'string' } } });

/** The noun a path is about; dashboard routes are grouped with the resource inside the project. */
const tagOf = (path: string): string => {
  const [, first = 'other', , third] = path.split('/').filter(Boolean);
  return first === 'projects' && third ? third : first;
};

const parameterRow = (name: string): PathParameterRow =>
  (pathParameters as Record<string, PathParameterRow>)[name] ?? { is: '' };
const shownName = (name: string): string => parameterRow(name).as ?? name;
/** With one name for one thing, whatever the rows call it. */
const shownPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `{${shownName(name)}}`);

const inPath = (path: string) =>
  paramNames(path).map((name) => ({
    name: shownName(name),
    in: 'path',
    required: true,
    description: parameterRow(name).is,
    schema: { type: 'string' },
  }));

const inQuery = (query: TObject | undefined, components: Components) =>
  Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: query?.required?.includes(name) ?? false,
    description: (queryParameters as Record<string, string>)[name] ?? '',
    schema: components.inner(schema),
  }));

const inHeader = (row: RouteRow) =>
  row.replay
    ? [
        {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description: idempotencyKeyHeader,
          schema: { type: 'string', maxLength: 255 },
        },
      ]
    : [];

function successOf(row: RouteRow, use: (schema: object) => object) {
  const [status, schema, repeat] = row.returns;
  const mediaType = schema ? (row.speaks ?? row.streams) : undefined;
  const body = mediaType ? { content: text(mediaType) } : schema ? { content: json(use(schema)) } : {};
  const own = headerRefs(
    'x-request-id',
    ...(row.paged ? (['x-next-cursor'] as const) : []),
    ...(row.speaks && schema ? (['location'] as const) : []),
  );
  const answer = { description: row.does, headers: own, ...body };
  return {
    [status]: answer,
    ...(repeat === undefined ? {} : { [repeat]: { ...answer, description: 'It was there already.' } }),
  };
}

/** What a row can raise: its own codes and those that follow from its other columns. */
export function codesOf(row: RouteRow): ErrorCode[] {
  const { path } = splitAt(row);
  const always: ErrorCode[] = ['SVC_INTERNAL', 'SVC_SERVICE_UNAVAILABLE'];
  const credential: ErrorCode[] = row.by.includes('none')
    ? []
    : ['SVC_UNAUTHENTICATED', 'SVC_INVALID_TOKEN', 'SVC_WRONG_CREDENTIAL_TYPE'];
  const isForUsers = row.by.includes('chatToken') || row.by.includes('rtcToken');
  const isInProject = path.includes('{projectId}');
  const project: ErrorCode[] = isInProject ? ['SVC_PROJECT_NOT_FOUND', 'SVC_PROJECT_REQUIRES_SECOND_FACTOR'] : [];
  const input: ErrorCode[] = row.body
    ? ['SVC_INVALID_JSON', 'SVC_VALIDATION_FAILED', 'SVC_PAYLOAD_TOO_LARGE', 'SVC_UNSUPPORTED_MEDIA_TYPE']
    : [];
  return [
    ...new Set<ErrorCode>([
      ...(row.throws ?? []),
      ...credential,
      ...(isForUsers ? (['SVC_USER_BANNED'] as const) : []),
      ...(row.by.includes('chatToken') ? (['SVC_CHAT_BANNED'] as const) : []),
      ...(row.by.includes('apiKey') ? (['SVC_NETWORK_NOT_ALLOWED'] as const) : []),
      ...(row.scope && row.scope !== 'any' ? (['SVC_SCOPE_MISSING'] as const) : []),
      ...project,
      ...(row.needs ? (['SVC_PERMISSION_DENIED'] as const) : []),
      ...(row.stepUp ? (['SVC_STEP_UP_REQUIRED'] as const) : []),
      ...(row.budget || row.userBudget ? (['SVC_RATE_LIMITED'] as const) : []),
      ...(row.replay
        ? (['SVC_INVALID_IDEMPOTENCY_KEY', 'SVC_IDEMPOTENCY_MISMATCH', 'SVC_IDEMPOTENCY_IN_PROGRESS'] as const)
        : []),
      ...(row.query ? (['SVC_VALIDATION_FAILED'] as const) : []),
      ...(row.paged ? (['SVC_INVALID_CURSOR'] as const) : []),
      ...input,
      ...always,
    ]),
  ];
}

function failuresOf(codes: readonly ErrorCode[]) {
  const byStatus = Map.groupBy(codes, (code) => errors[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      {
        description: group.join(', '),
        headers: headerRefs('x-request-id', ...(status === 429 || status === 503 ? (['retry-after'] as const) : [])),
        content: json({ $ref: '#/components/schemas/Error' }),
      },
    ]),
  );
}
