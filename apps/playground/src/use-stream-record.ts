import { useEffect, useState } from 'react';
import { backend, type Stream } from './backend.ts';

const everyMs = 2_000;

/** The stream as the service sees it now. */
export function useStreamRecord(id: string | null): [stream: Stream | null, refresh: () => void] {
  const [stream, setStream] = useState<Stream | null>(null);
  const [turn, setTurn] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new turn is a reason to look at once.
  useEffect(() => {
    if (id === null) return;
    let isCurrent = true;
    const look = (): void =>
      void backend
        .stream(id)
        .then((found) => isCurrent && setStream(found))
        .catch(() => {});
    look();
    const timer = setInterval(look, everyMs);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [id, turn]);
  return [stream, () => setTurn((before) => before + 1)];
}

export const viewersOf = (stream: Stream | null): string =>
  stream?.viewerCount === null || stream === null
    ? ''
    : `${stream.viewerCount} ${stream.viewerCount === 1 ? 'viewer' : 'viewers'}`;
