import { createDeferred } from '../deferred.ts';
import { ConnectionError, SvcError } from '../errors.ts';
import type { createRpcExchange, RpcDeps, RpcHandler, RpcRequest, RpcResponse } from './rpc-exchange.ts';

export interface Rpc {
  ask(to: string, method: string, payload: string, timeoutMs: number): Promise<string>;
  handle(method: string, handler: RpcHandler): () => void;
  receiveRequest(request: RpcRequest): void;
  receiveResponse(response: RpcResponse): void;
  /** The call is over: pending requests are rejected. */
  close(why: ConnectionError): void;
}

/** It could not be loaded: the server answers for it, in time. */
const ignore = (): void => {};

/** Questions between participants. What exchanges them is loaded with the first: most calls have none. */
export function createRpc(deps: RpcDeps): Rpc {
  const handlers = new Map<string, RpcHandler>();
  let loading: Promise<ReturnType<typeof createRpcExchange>> | null = null;

  function load() {
    loading ??= import('./rpc-exchange.ts')
      .then((part) => part.createRpcExchange({ ...deps, handlers, SvcError, createDeferred }))
      .catch((cause) => {
        // Not kept: the next one asks for it again.
        loading = null;
        throw new ConnectionError('network', { cause });
      });
    return loading;
  }

  return {
    ask: async (...question) => (await load()).ask(...question),
    handle(method, handler) {
      handlers.set(method, handler);
      // Questions are to be expected.
      load().catch(ignore);
      return () => {
        if (handlers.get(method) === handler) handlers.delete(method);
      };
    },
    receiveRequest: (question) => void load().then(({ answer }) => answer(question), ignore),
    receiveResponse: (response) => void loading?.then(({ receiveResponse }) => receiveResponse(response), ignore),
    close: (why) => void loading?.then(({ close }) => close(why), ignore),
  };
}
