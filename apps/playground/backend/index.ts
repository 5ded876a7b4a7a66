/**
 * The backend of the playground, and the pattern for yours: it holds the API key, decides who may do what, and hands
 * out short-lived tokens. It knows the service only by its public API.
 */
import { isSvcError, type Svc, speaker, withData } from '@parley/server';

interface BackendOptions {
  /** Null until the service has its development key. */
  svc: () => Svc | null;
}

export type Backend = (request: Request) => Promise<Response>;

interface Call {
  svc: Svc;
  /** The parts of the path, decoded. */
  parts: Readonly<Record<string, string>>;
  body: Readonly<Record<string, unknown>>;
}

/** Any visitor may take any identity: a playground has no accounts. Yours takes the identity from its own session. */
const identityOf = (body: Call['body']): string => text(body, 'identity');

/** What everybody in the playground's chat is in. */
const sharedConversations = { 'playground-lounge': 'Lounge', 'playground-harbour': 'Harbour crew' } as const;

const routes: Readonly<Record<string, (call: Call) => Promise<unknown>>> = {
  'GET rooms': async ({ svc }) =>
    (await svc.rooms.list({ limit: 20 }))
      .filter(({ liveStreamId }) => liveStreamId === null)
      .map(({ name, participantCount }) => ({ name, participantCount })),

  'POST rooms/{room}': async ({ svc, parts }) => {
    const room = await svc.rooms
      .get(part(parts, 'room'))
      .catch(ifMissing(() => svc.rooms.create({ name: part(parts, 'room') })));
    await svc.chat.conversations
      .get(room.name)
      .catch(ifMissing(() => svc.chat.conversations.create({ name: room.name, roomId: room.id })));
    return { name: room.name };
  },

  'POST rooms/{room}/rtc-token': async ({ svc, parts, body }) => {
    const ttlSeconds = typeof body['ttlSeconds'] === 'number' ? body['ttlSeconds'] : 3600;
    const { token } = await svc.rooms.tokens.create(part(parts, 'room'), {
      participantIdentity: identityOf(body),
      permissions: withData(speaker()),
      // The name that the others see: the kit reads it from here.
      ...(typeof body['name'] === 'string' ? { metadata: JSON.stringify({ name: body['name'] }) } : {}),
      ttlSeconds,
    });
    return { token };
  },

  'POST rooms/{room}/chat-token': async ({ svc, parts, body }) => {
    const userId = identityOf(body);
    await svc.chat.members.add(part(parts, 'room'), { userId });
    const { token } = await svc.chat.tokens.create({ userId, conversations: [part(parts, 'room')] });
    return { token };
  },

  'POST chat/token': async ({ svc, body }) => {
    const userId = identityOf(body);
    for (const [name, title] of Object.entries(sharedConversations)) {
      await svc.chat.conversations
        .get(name)
        .catch(ifMissing(() => svc.chat.conversations.create({ name, metadata: { title } })));
      await svc.chat.members.add(name, { userId });
    }
    // Not bounded to conversations: the inbox has all of the user's.
    return { token: (await svc.chat.tokens.create({ userId })).token };
  },

  'GET streams': async ({ svc }) =>
    (await svc.liveStreams.list({ limit: 20 })).map(({ id, title, status, hostIdentity }) => ({
      id,
      title,
      status,
      hostIdentity,
    })),
  'POST streams': ({ svc, body }) =>
    svc.liveStreams.create({ title: text(body, 'title'), hostIdentity: identityOf(body) }),
  'GET streams/{id}': ({ svc, parts }) => svc.liveStreams.get(part(parts, 'id')),
  'POST streams/{id}/start': ({ svc, parts }) => svc.liveStreams.start(part(parts, 'id')),
  'POST streams/{id}/end': ({ svc, parts }) => svc.liveStreams.end(part(parts, 'id')),
  'POST streams/{id}/host': ({ svc, parts, body }) =>
    svc.liveStreams.addHost(part(parts, 'id'), {
      identity: identityOf(body),
      role: body['role'] === 'CO_HOST' ? 'CO_HOST' : 'HOST',
    }),
  'POST streams/{id}/viewer': ({ svc, parts, body }) =>
    svc.liveStreams.createViewerToken(part(parts, 'id'), { identity: identityOf(body) }),
  'POST streams/{id}/leave': ({ svc, parts, body }) =>
    svc.liveStreams.leave(part(parts, 'id'), { identity: identityOf(body) }),

  'GET attachments/{id}': async ({ svc, parts }) => svc.chat.attachments.downloadUrl(part(parts, 'id')),
};

/** Method and path of each, below `/playground/api/`. */
export const backendRoutes: readonly string[] = Object.keys(routes);

const table = Object.entries(routes).map(([at, handle]) => {
  const [method, path = ''] = at.split(' ', 2);
  const pattern = new RegExp(`^/playground/api/${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
  return { method, pattern, handle };
});

export function createBackend({ svc }: BackendOptions): Backend {
  return async (request) => {
    const { pathname } = new URL(request.url);
    for (const { method, pattern, handle } of table) {
      const match = request.method === method ? pattern.exec(pathname) : null;
      if (!match) continue;
      const client = svc();
      if (client === null) return refusal(503, 'not_ready', 'The service is still starting.');
      try {
        return Response.json(await handle({ svc: client, parts: decoded(match.groups), body: await bodyOf(request) }));
      } catch (error) {
        return answerOf(error);
      }
    }
    return refusal(404, 'not_found', 'The playground has no such route.');
  };
}

class BadInput extends Error {}

const decoded = (groups: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]));

const part = (parts: Call['parts'], name: string): string => parts[name] ?? '';

function text(body: Call['body'], name: string): string {
  const value = body[name];
  if (typeof value !== 'string' || value === '') throw new BadInput(`${name} is missing.`);
  return value;
}

async function bodyOf(request: Request): Promise<Record<string, unknown>> {
  if (request.method === 'GET') return {};
  const given = await request.text();
  try {
    const value: unknown = given === '' ? {} : JSON.parse(given);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new BadInput('The body is not a JSON object.');
}

/** Creates what is missing; of two concurrent creations both get it. */
function ifMissing<T>(make: () => Promise<T>): (error: unknown) => Promise<T> {
  return (error) => {
    if (!isSvcError(error) || !error.code.endsWith('_NOT_FOUND')) throw error;
    return make();
  };
}

const refusal = (status: number, code: string, message: string, requestId = ''): Response =>
  Response.json({ code, message, requestId }, { status });

function answerOf(error: unknown): Response {
  if (error instanceof BadInput) return refusal(400, 'bad_input', error.message);
  if (!isSvcError(error)) throw error;
  const status = 'status' in error && typeof error.status === 'number' ? error.status : 502;
  return refusal(status, error.code, error.message, error.requestId);
}
