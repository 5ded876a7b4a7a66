import type { ParleyError } from '@parley/client';
import { useEffect, useState } from 'react';
import { useLatest } from './use-latest.ts';

export interface Captured {
  track: MediaStreamTrack | null;
  /** By its code: `permission_denied`, `device_in_use`, … */
  problem: ParleyError | null;
}

const NOTHING: Captured = { track: null, problem: null };

/** Holds a device open while it is wanted; opens it again when `reason` changes (another device was chosen). */
export function useCapture(isWanted: boolean, capture: () => Promise<MediaStreamTrack>, reason: unknown): Captured {
  const [captured, setCaptured] = useState(NOTHING);
  const open = useLatest(capture);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `reason` is what makes the device be opened again.
  useEffect(() => {
    if (!isWanted) return;
    let isGone = false;
    let track: MediaStreamTrack | null = null;
    open.current().then(
      (media) => {
        if (isGone) return media.stop();
        track = media;
        setCaptured({ track, problem: null });
      },
      (problem) => {
        if (!isGone) setCaptured({ track: null, problem });
      },
    );
    return () => {
      isGone = true;
      track?.stop();
      setCaptured(NOTHING);
    };
  }, [isWanted, reason]);
  return captured;
}
