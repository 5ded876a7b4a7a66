import { useEffect, useState } from 'react';

/** Whole seconds that are left of `seconds`, counted from when the number was given. */
export function useCountdown(seconds: number | null): number {
  const [left, setLeft] = useState(seconds ?? 0);
  useEffect(() => {
    if (seconds === null) return setLeft(0);
    const until = performance.now() + seconds * 1000;
    const tick = (): void => setLeft(Math.max(0, Math.ceil((until - performance.now()) / 1000)));
    tick();
    const timer = setInterval(tick, 250);
    return () => clearInterval(timer);
  }, [seconds]);
  return left;
}
