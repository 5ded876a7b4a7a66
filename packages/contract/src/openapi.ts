import type { TObject, TSchema } from 'typebox';
import { type ErrorCode, ErrorEnvelope, errors } from './errors.ts';
import { type Credential, paramNames, type RouteRow, type Routes, splitAt } from './route.ts';

/** OpenAPI 3.1 from the route table: TypeBox schemas are JSON Schema already. */
export function openApiOf(table: Routes, info = { title: 'Parley', version: '1' }) {
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, row] of Object.entries(table)) {
    const { method, path } = splitAt(row);
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(name, row) };
  }
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    paths,
    components: { securitySchemes, schemas: { Error: ErrorEnvelope } },
  };
}

const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description });
const securitySchemes: Readonly<Record<Exclude<Credential, 'none'>, object>> = {
  apiKey: bearer('Project API key: svk_<env>_<publicId>.<secret>'),
  chatToken: bearer('Chat token of one end user'),
  rtcToken: bearer('RTC token of one participant'),
  session: bearer('Dashboard session (JWT)'),
  sfuSecret: bearer('SFU registration secret'),
};

function operationOf(name: string, row: RouteRow) {
  const { path } = splitAt(row);
  const codes = codesOf(row);
  return {
    operationId: name,
    summary: row.does,
    tags: [tagOf(path)],
    security: row.by.includes('none') ? [] : row.by.map((credential) => ({ [credential]: [] })),
    parameters: [...pathParameters(path), ...queryParameters(row.query), ...headerParameters(row)],
    ...(row.body ? { requestBody: { required: !row.isBodyOptional, content: json(row.body) } } : {}),
    ...(row.speaks ? { requestBody: { required: true, content: text(row.speaks) } } : {}),
    responses: { ...successOf(row), ...failuresOf(codes) },
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

const pathParameters = (path: string) =>
  paramNames(path).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));

const queryParameters = (query: TObject | undefined) =>
  Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: query?.required?.includes(name) ?? false,
    schema,
  }));

const headerParameters = (row: RouteRow) =>
  row.replay
    ? [{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', maxLength: 255 } }]
    : [];

function successOf(row: RouteRow) {
  const [status, schema, repeat] = row.returns;
  const mediaType = row.speaks ?? row.streams;
  const body = mediaType ? { content: text(mediaType) } : schema ? { content: json(schema) } : {};
  const answer = { description: row.does, ...body };
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
      { description: group.join(', '), content: json({ $ref: '#/components/schemas/Error' }) },
    ]),
  );
}
