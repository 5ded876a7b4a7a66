import { useEffect } from 'react';

/** A call has the whole window, without the navigation above it. */
export function useFullPage(): void {
  useEffect(() => {
    const { dataset } = document.documentElement;
    dataset['full'] = '';
    return () => {
      delete dataset['full'];
    };
  }, []);
}
