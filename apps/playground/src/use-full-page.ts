import { useEffect } from 'react';

/** A call has the whole window, without the navigation above it. */
export function useFullPage(isFull = true): void {
  useEffect(() => {
    if (!isFull) return;
    const { dataset } = document.documentElement;
    dataset['full'] = '';
    return () => {
      delete dataset['full'];
    };
  }, [isFull]);
}
