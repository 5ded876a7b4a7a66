import { type ClientFrameRow, commonClientFrames, fail, type LimitName } from '@parley/contract';
import type { Clock } from '../core/clock.ts';
import { readJson } from '../core/safe-json.ts';
import type {
  ClientFrameTable,
  Connection,
  FrameHandler,
  FrameReply,
  SocketDefinition,
  SocketSession,
} from '../core/socket.ts';
import { compileParser, type Parser, refuse } from '../core/validation.ts';

/** One row of a frame table, ready to run. */
export interface FrameRoute {
  type: string;
  budget: LimitName | null;
  parse: Parser;
  run: (connection: Connection<SocketSession>, frame: Record<string, unknown>) => Promise<FrameReply>;
}

/** A frame as far as it could be read: enough to answer it. */
export interface RawFrame {
  type: string;
  id: string | null;
  fields: Record<string, unknown>;
}

const idLengthMax = 64;

/** Frame types of a socket. A Map: `constructor` is not a frame. */
export function createFrameRoutes(
  definition: SocketDefinition<SocketSession, ClientFrameTable>,
  clock: Clock,
): ReadonlyMap<string, FrameRoute> {
  const routes = new Map<string, FrameRoute>();
  for (const [type, row] of Object.entries(definition.frames)) {
    const handler: FrameHandler<SocketSession, ClientFrameRow> | undefined = definition.handlers[type];
    if (!handler) throw new Error(`frame ${type} of ${definition.path} has no handler`);
    routes.set(type, { type, budget: row.budget ?? null, parse: compileParser(row.data, 'frame'), run: handler });
  }
  // The same on every socket: it proves that both ends are alive, whatever else is going on.
  routes.set('ping', {
    type: 'ping',
    budget: null,
    parse: compileParser(commonClientFrames.ping.data, 'frame'),
    async run(connection, { t }) {
      connection.send('pong', { t, serverTime: clock.now() });
      return undefined;
    },
  });
  return routes;
}

/** Bytes from a client as `{ type, id?, … }`, or SVC_INVALID_JSON / SVC_VALIDATION_FAILED. */
export function readFrame(bytes: Uint8Array): RawFrame {
  const value = readJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return fail('SVC_INVALID_JSON', { message: 'A frame is one JSON object.' });
  }
  // An object out of JSON.parse: string keys, nothing more is known yet.
  const fields = value as Record<string, unknown>;
  return { type: readType(fields), id: readId(fields), fields };
}

function readType({ type }: Record<string, unknown>): string {
  if (typeof type === 'string') return type;
  return refuse([{ field: 'type', rule: 'type', message: 'type must be the name of a frame.' }]);
}

function readId({ id }: Record<string, unknown>): string | null {
  if (id === undefined) return null;
  if (typeof id === 'string' && id.length >= 1 && id.length <= idLengthMax) return id;
  return refuse([{ field: 'id', rule: 'length', message: `id must be a text of 1 to ${idLengthMax} characters.` }]);
}
