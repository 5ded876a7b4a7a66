import { ConnectionError } from './errors.ts';

/** What the SDK needs of its surroundings; a browser and Node both have it. */
export interface Runtime {
  /** Milliseconds that never run backwards. */
  now(): number;
  random(): number;
  newId(): string;
  setTimer(run: () => void, ms: number): () => void;
  openWebSocket(url: string, protocols: string[]): WebSocket;
  fetch: typeof globalThis.fetch;
  /**
   * Calls back when the network returns (`online`: it may be another) or goes, or the page is shown again: worth a look
   * at the connection.
   */
  onWake(listener: (event: Pick<Event, 'type'>) => void): () => void;
}

export const systemRuntime: Runtime = {
  now: () => performance.now(),
  random: () => Math.random(),
  newId: () => crypto.randomUUID?.() ?? randomId(),
  setTimer(run, ms) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  openWebSocket(url, protocols) {
    if (!globalThis.WebSocket) throw new ConnectionError('protocol', NO_WEBSOCKET);
    return new WebSocket(url, protocols);
  },
  fetch: (input, init) => globalThis.fetch(input, init),
  onWake(listener) {
    // Its `signal` is the option that ends them all.
    const watching = new AbortController();
    const target = globalThis as Partial<EventTarget>;
    const page = globalThis.document as Document | undefined;
    const onVisibility = (event: Event): void => {
      if (page?.visibilityState === 'visible') listener(event);
    };
    target.addEventListener?.('online', listener, watching);
    target.addEventListener?.('offline', listener, watching);
    page?.addEventListener('visibilitychange', onVisibility, watching);
    return () => watching.abort();
  },
};

const NO_WEBSOCKET = {
  code: 'no_websocket',
  message: 'No WebSocket. Set globalThis.WebSocket to that of "ws".',
};

/** `crypto.randomUUID` is missing on pages without https. */
function randomId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Resolves after `ms`, or at once when `signal` aborts; the timer is gone then. */
export function sleep(runtime: Runtime, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = runtime.setTimer(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
