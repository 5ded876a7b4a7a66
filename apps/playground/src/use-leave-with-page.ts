import { useEffect } from 'react';

/** A page that closes says goodbye; the others would see an empty tile until its place is given up. */
export function useLeaveWithPage(leave: () => void): void {
  useEffect(() => {
    addEventListener('pagehide', leave);
    return () => removeEventListener('pagehide', leave);
  }, [leave]);
}
