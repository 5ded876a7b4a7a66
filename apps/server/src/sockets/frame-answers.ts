import { type CloseCode, fail, type ServerFrameTable, type ServiceError } from '@parley/contract';
import type { Clock } from '../core/clock.ts';
import { toServiceError } from '../core/faults.ts';
import type { Log } from '../core/log.ts';
import type { RateLimiter } from '../core/rate-limiter.ts';
import type { Connection, SocketSession } from '../core/socket.ts';
import type { FrameRoute, RawFrame } from './frame-reader.ts';
import type { FrameWriter } from './frame-writer.ts';
import { errorFields } from './socket-errors.ts';

type EndOf = (refusal: ServiceError) => End | null;

/** How a connection ends. */
export interface End {
  code: CloseCode;
  reason: string;
}

interface FrameAnswersDeps<S extends SocketSession, V extends ServerFrameTable> {
  connection: Connection<S, V>;
  routes: ReadonlyMap<string, FrameRoute<S, V>>;
  /** How the connection ends after a frame of this type was refused; null when it goes on. */
  endsWith: (type: string, error: ServiceError) => End | null;
  /** The same after one of unknown type or with invalid fields: a client that sends too many of them is cut off. */
  endOfInvalid: EndOf;
  writer: FrameWriter;
  rateLimiter: RateLimiter;
  clock: Clock;
  log: Log;
}

interface FrameAnswers {
  answer(frame: RawFrame): Promise<void>;
  /** Of `commonClientFrames`, with any `t`: it proves that both ends are alive, however long the inbox is. */
  pong(frame: RawFrame): void;
  refuse(error: unknown, frame: RawFrame): void;
  /** Without an end the connection goes on. */
  sendError(error: unknown, about: { type?: string; id: string | null }, endOf?: EndOf): void;
}

/** What becomes of the frames of an open connection: run, answered, or refused. */
export function createFrameAnswers<S extends SocketSession, V extends ServerFrameTable>(
  deps: FrameAnswersDeps<S, V>,
): FrameAnswers {
  const { connection, routes, endsWith, endOfInvalid, writer, rateLimiter, clock, log } = deps;

  const sendError: FrameAnswers['sendError'] = (error, { type, id }, endOf) => {
    const refusal = toServiceError(error);
    if (refusal.code === 'SVC_INTERNAL')
      log.error({ error, frame: type, connectionId: connection.id }, 'frame or authentication failed');
    const end = endOf?.(refusal) ?? null;
    writer.send('error', errorFields(refusal, id, end !== null));
    if (end) connection.close(end.code, end.reason);
  };

  const refuse: FrameAnswers['refuse'] = (error, frame) =>
    sendError(error, frame, (refusal) => endsWith(frame.type, refusal));

  const pong: FrameAnswers['pong'] = ({ id, fields }) => {
    writer.send('pong', { t: fields['t'], serverTime: clock.now() });
    writer.reply(id, undefined);
  };

  /** What the frame asks for; null when it asks for nothing we know, and was refused. */
  function prepare(frame: RawFrame) {
    try {
      const route = routes.get(frame.type) ?? fail('SVC_UNKNOWN_FRAME');
      return { budget: route.budget, run: route.read(frame.fields) };
    } catch (error) {
      sendError(error, frame, (refusal) => endsWith(frame.type, refusal) ?? endOfInvalid(refusal));
      return null;
    }
  }

  return {
    sendError,
    refuse,
    pong,
    async answer(frame) {
      // One that came while the token was checked.
      if (frame.type === 'ping') return pong(frame);
      const work = prepare(frame);
      if (!work) return;
      try {
        if (work.budget) await rateLimiter.spendFor(work.budget, connection.session, connection.session.subject);
        writer.reply(frame.id, await work.run(connection));
      } catch (error) {
        refuse(error, frame);
      }
    },
  };
}
