import {
  type ClientFrameRow,
  type ClientFrameTable,
  type FrameData,
  fail,
  type LimitName,
  type ServerFrameTable,
} from '@parley/contract';
import { readJson } from '../core/safe-json.ts';
import type { Connection, FrameHandler, FrameReply, SocketDefinition, SocketSession } from '../core/socket.ts';
import { compileParser, refuse } from '../core/validation.ts';

/** One row of a frame table, ready to run. */
export interface FrameRoute<S extends SocketSession, V extends ServerFrameTable> {
  budget: LimitName | null;
  /** Validates the fields, or SVC_VALIDATION_FAILED; what it gives back runs the handler. */
  read(fields: Record<string, unknown>): (connection: Connection<S, V>) => Promise<FrameReply<ClientFrameRow>>;
}

/** A frame as far as it could be read: enough to answer it. */
export interface RawFrame {
  type: string;
  id: string | null;
  fields: Record<string, unknown>;
}

const idLengthMax = 64;
const byteOrderMark = 0xef;

/** Frame types of a socket. A Map: `constructor` is not a frame. */
export function createFrameRoutes<S extends SocketSession, F extends ClientFrameTable, V extends ServerFrameTable>({
  frames,
  handlers,
}: Pick<SocketDefinition<S, F, V>, 'frames' | 'handlers'>): ReadonlyMap<string, FrameRoute<S, V>> {
  const types: (keyof F & string)[] = Object.keys(frames);
  return new Map(types.map((type) => [type, routeOf(frames[type], handlers[type])]));
}

function routeOf<S extends SocketSession, R extends ClientFrameRow, V extends ServerFrameTable>(
  row: R,
  handler: FrameHandler<S, R, V>,
): FrameRoute<S, V> {
  const parse = compileParser(row.data, 'frame');
  return {
    budget: row.budget ?? null,
    read(fields) {
      // The row's schema has just accepted it.
      const frame = parse(fields) as FrameData<R>;
      return (connection) => handler(connection, frame);
    },
  };
}

/** Bytes from a client as `{ type, id?, … }`, or SVC_INVALID_JSON / SVC_VALIDATION_FAILED. */
export function readFrame(bytes: Buffer): RawFrame {
  // ws has validated the UTF-8; the reader takes a byte order mark away.
  const value = readJson(bytes[0] === byteOrderMark ? bytes : bytes.toString());
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
