import { type ConnectionError, SvcError } from '../errors.ts';
import type { Frame } from '../link.ts';
import type { Runtime } from '../runtime.ts';

export type RpcHandler = (payload: string, from: string) => string | Promise<string>;

export interface RpcDeps {
  runtime: Pick<Runtime, 'setTimer'>;
  request(type: string, fields: object): Promise<unknown>;
  send(type: string, fields: object): void;
}

export interface Rpc {
  ask(to: string, method: string, payload: string, timeoutMs: number): Promise<string>;
  handle(method: string, handler: RpcHandler): () => void;
  /** False when the frame is none of ours. */
  take(frame: Frame): boolean;
  /** The call is over: nobody will answer. */
  close(why: ConnectionError): void;
}

interface RpcAnswer {
  payload: string | null;
  error: { code: string; message?: string } | null;
}

const EARLY_MAX = 20;

/** Questions between participants. The server keeps the time; an answer always comes, or the connection is gone. */
export function createRpc({ runtime, request, send }: RpcDeps): Rpc {
  const handlers = new Map<string, RpcHandler>();
  const waiting = new Map<string, PromiseWithResolvers<string>>();
  /** Answers that were faster than the number of their question. */
  const early = new Map<string, RpcAnswer>();

  function settle(waiter: PromiseWithResolvers<string>, { payload, error }: RpcAnswer): void {
    if (!error) {
      waiter.resolve(payload ?? '');
      return;
    }
    const message = error.message ?? 'The other participant could not answer.';
    waiter.reject(new SvcError({ code: error.code, message, retryable: error.code === 'TIMEOUT' }));
  }

  /** Some are late rather than early, and nobody will ask for them. */
  function keepEarly(requestId: string, answered: RpcAnswer): void {
    early.set(requestId, answered);
    for (const id of early.keys()) if (early.size > EARLY_MAX) early.delete(id);
  }

  async function answer(requestId: string, method: string, payload: string, from: string): Promise<void> {
    const handler = handlers.get(method);
    try {
      if (!handler) throw new SvcError({ code: 'METHOD_NOT_FOUND', message: `Nobody handles "${method}" here.` });
      send('rpc.response', { requestId, payload: await handler(payload, from) });
    } catch (error) {
      // Only what the handler meant to tell goes to the other side.
      const told = SvcError.is(error) ? error : { code: 'HANDLER_FAILED', message: 'The handler failed.' };
      send('rpc.response', { requestId, error: { code: told.code, message: told.message } });
    }
  }

  return {
    async ask(to, method, payload, timeoutMs) {
      // The answer of our own frame.
      const { requestId } = (await request('rpc.request', { to, method, payload, timeoutMs })) as { requestId: string };
      const waiter = Promise.withResolvers<string>();
      const known = early.get(requestId);
      if (known) settle(waiter, known);
      else waiting.set(requestId, waiter);
      early.delete(requestId);
      // The server's word is lost with the connection it came over.
      const cancel = runtime.setTimer(() => {
        const message = 'No answer came in time.';
        waiter.reject(new SvcError({ code: 'TIMEOUT', message, retryable: true }));
      }, timeoutMs + 2_000);
      return waiter.promise.finally(() => {
        cancel();
        waiting.delete(requestId);
      });
    },
    handle(method, handler) {
      handlers.set(method, handler);
      return () => {
        if (handlers.get(method) === handler) handlers.delete(method);
      };
    },
    take(frame) {
      // The frames of the contract's table.
      const { requestId, method, payload, from } = frame as unknown as Record<string, string>;
      if (frame.type === 'rpc.request') void answer(requestId ?? '', method ?? '', payload ?? '', from ?? '');
      else if (frame.type === 'rpc.response') {
        const answered = frame as unknown as RpcAnswer;
        const waiter = waiting.get(requestId ?? '');
        if (waiter) settle(waiter, answered);
        else keepEarly(requestId ?? '', answered);
      } else return false;
      return true;
    },
    close(why) {
      for (const waiter of waiting.values()) waiter.reject(why);
      early.clear();
    },
  };
}
