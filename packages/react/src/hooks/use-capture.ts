import { ParleyError } from '@parley/client';
import { useEffect, useRef, useState } from 'react';

export interface Captured {
  track: MediaStreamTrack | null;
  /** The code of what went wrong: `permission_denied`, `device_in_use`, … */
  problem: string | null;
}

const NOTHING: Captured = { track: null, problem: null };

/** Holds a device open while it is wanted; opens it again when `reason` changes (another device was chosen). */
export function useCapture(isWanted: boolean, capture: () => Promise<MediaStreamTrack>, reason: unknown): Captured {
  const [captured, setCaptured] = useState(NOTHING);
  const open = useRef(capture);
  open.current = capture;
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
      (error) => {
        if (!isGone) setCaptured({ track: null, problem: ParleyError.is(error) ? error.code : 'device_failed' });
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
