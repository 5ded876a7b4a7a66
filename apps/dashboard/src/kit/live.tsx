import { useEffect, useRef, useSyncExternalStore } from 'react';

let message = '';
let said = 0;
const listeners = new Set<() => void>();

/** Says something to those who listen to the page instead of looking at it. */
export function announce(text: string): void {
  // The same words again are no change that a screen reader would notice: an invisible space makes them one.
  message = said++ % 2 === 0 ? text : `${text}\u00a0`;
  for (const listener of listeners) listener();
}

const subscribe = (onChange: () => void): (() => void) => {
  listeners.add(onChange);
  return () => listeners.delete(onChange);
};

/** The one place screen readers watch. */
export function LiveRegion() {
  const text = useSyncExternalStore(subscribe, () => message);
  return (
    <div className="visually-hidden" role="status" aria-live="polite">
      {text}
    </div>
  );
}

const quietMs = 10_000;

/** Announces a figure that changes by itself, at most every ten seconds. */
export function useAnnounced(text: string | null): void {
  const last = useRef<{ text: string | null; at: number }>({ text: null, at: 0 });
  useEffect(() => {
    if (text === null || text === last.current.text) return;
    const isFirst = last.current.text === null;
    const wait = Math.max(0, last.current.at + quietMs - performance.now());
    const timer = setTimeout(() => {
      last.current = { text, at: performance.now() };
      if (!isFirst) announce(text);
    }, wait);
    return () => clearTimeout(timer);
  }, [text]);
}
