import type { FrameData, SignalingClientFrames, SignalingServerFrames } from '@parley/contract';
import type { Deferred } from '../deferred.ts';
import type { ConnectionError, SvcError } from '../errors.ts';
import type { Runtime } from '../runtime.ts';

export type RpcHandler = (payload: string, from: string) => string | Promise<string>;

export interface RpcDeps {
  runtime: Pick<Runtime, 'setTimer'>;
  request(question: FrameData<SignalingClientFrames['rpc.request']>): Promise<{ requestId: string }>;
  respond(answer: FrameData<SignalingClientFrames['rpc.response']>): void;
}

export type RpcRequest = Pick<
  FrameData<SignalingServerFrames['rpc.request']>,
  'requestId' | 'from' | 'method' | 'payload'
>;
export type RpcResponse = Pick<FrameData<SignalingServerFrames['rpc.response']>, 'requestId' | 'payload' | 'error'>;

/** Given, not imported: what this file and the SDK both import would be split off, at the cost of every page. */
export interface RpcExchangeDeps extends RpcDeps {
  handlers: ReadonlyMap<string, RpcHandler>;
  SvcError: typeof SvcError;
  createDeferred(): Deferred<string>;
}

const EARLY_MAX = 20;

/** The server keeps the time; an answer always comes, or the connection is gone. */
export function createRpcExchange(deps: RpcExchangeDeps) {
  const { runtime, request, respond, handlers, SvcError, createDeferred } = deps;
  const waiting = new Map<string, Deferred<string>>();
  /** Responses that overtook the answer which gives their request its id. */
  const early = new Map<string, RpcResponse>();

  function settle(waiter: Deferred<string>, { payload, error }: RpcResponse): void {
    if (!error) {
      waiter.resolve(payload ?? '');
      return;
    }
    const message = error.message ?? 'The handler failed.';
    waiter.reject(new SvcError({ code: error.code, message, retryable: error.code === 'TIMEOUT' }));
  }

  /** Some are late rather than early, and never asked for. */
  function bufferEarly(response: RpcResponse): void {
    early.set(response.requestId, response);
    for (const id of early.keys()) if (early.size > EARLY_MAX) early.delete(id);
  }

  async function answer({ requestId, method, payload, from }: RpcRequest): Promise<void> {
    const handler = handlers.get(method);
    try {
      if (!handler) throw new SvcError({ code: 'METHOD_NOT_FOUND', message: `Nobody handles "${method}" here.` });
      respond({ requestId, payload: await handler(payload ?? '', from) });
    } catch (error) {
      // Only errors that the handler threw on purpose go to the other side.
      const { code, message } = SvcError.is(error) ? error : { code: 'HANDLER_FAILED', message: 'The handler failed.' };
      respond({ requestId, error: { code, message } });
    }
  }

  return {
    async ask(to: string, method: string, payload: string, timeoutMs: number): Promise<string> {
      const { requestId } = await request({ to, method, payload, timeoutMs });
      const waiter = createDeferred();
      const known = early.get(requestId);
      if (known) settle(waiter, known);
      else waiting.set(requestId, waiter);
      early.delete(requestId);
      // The server's own timeout is lost with the connection it would come over.
      const cancel = runtime.setTimer(() => {
        const message = 'No answer came in time.';
        waiter.reject(new SvcError({ code: 'TIMEOUT', message, retryable: true }));
      }, timeoutMs + 2_000);
      return waiter.promise.finally(() => {
        cancel();
        waiting.delete(requestId);
      });
    },
    answer,
    receiveResponse(response: RpcResponse): void {
      const waiter = waiting.get(response.requestId);
      if (waiter) settle(waiter, response);
      else bufferEarly(response);
    },
    close(why: ConnectionError): void {
      for (const waiter of waiting.values()) waiter.reject(why);
      early.clear();
    },
  };
}
