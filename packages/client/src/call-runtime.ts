import { type Runtime, systemRuntime } from './runtime.ts';

/** What a call needs besides: a page with chat alone does not load it. */
export interface CallRuntime extends Runtime {
  /** Calls back when the page goes away. */
  onPageHide(listener: () => void): () => void;
}

export const callRuntime: CallRuntime = {
  ...systemRuntime,
  onPageHide(listener) {
    const target = globalThis as Partial<EventTarget>;
    target.addEventListener?.('pagehide', listener);
    return () => target.removeEventListener?.('pagehide', listener);
  },
};
