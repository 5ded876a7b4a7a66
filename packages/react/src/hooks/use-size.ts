import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import type { Size } from '../call/layout.ts';

/** The inner size of an element; null until it is in the page. */
export function useSize<T extends HTMLElement>(): [ref: RefObject<T | null>, size: Size | null] {
  const ref = useRef<T>(null);
  const [size, setSize] = useState<Size | null>(null);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = (): void => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((last) => (last?.width === width && last.height === height ? last : { width, height }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, size];
}
