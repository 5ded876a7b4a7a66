import { type RefObject, useRef } from 'react';

/** What was given at the last rendering, for effects that outlive it and callbacks that must not change. */
export function useLatest<T>(value: T): RefObject<T> {
  const latest = useRef(value);
  latest.current = value;
  return latest;
}
