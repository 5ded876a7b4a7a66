import { useSyncExternalStore } from 'react';

export interface Entry {
  at: number;
  from: string;
  what: string;
  detail: string;
}

const keptMax = 300;
let entries: readonly Entry[] = [];
const listeners = new Set<() => void>();

/** What the inspector shows; newest first. Tokens never come in here. */
export function note(from: string, what: string, detail: unknown = ''): void {
  const text = typeof detail === 'string' ? detail : JSON.stringify(detail);
  entries = [{ at: performance.now(), from, what, detail: (text ?? '').slice(0, 300) }, ...entries].slice(0, keptMax);
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useLog = (): readonly Entry[] => useSyncExternalStore(subscribe, () => entries);
