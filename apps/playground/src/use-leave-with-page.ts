import { useEffect } from 'react';

/** What ends with the page beside the call, which the SDK leaves by itself. */
export function useLeaveWithPage(leave: () => void): void {
  useEffect(() => {
    addEventListener('pagehide', leave);
    return () => removeEventListener('pagehide', leave);
  }, [leave]);
}
