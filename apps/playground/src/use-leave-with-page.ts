import { useEffect } from 'react';

/** A page that closes leaves; the others would see an empty tile until its session expires. */
export function useLeaveWithPage(leave: () => void): void {
  useEffect(() => {
    addEventListener('pagehide', leave);
    return () => removeEventListener('pagehide', leave);
  }, [leave]);
}
