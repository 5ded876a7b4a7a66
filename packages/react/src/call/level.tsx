import { createLevelMeter, type LevelMeter } from '@parley/client';
import { useStore } from '@parley/client/react';
import { useEffect, useState } from 'react';
import { constantStore } from '../shared/constant-store.ts';
import { useTexts } from '../texts.tsx';

const silence = /* @__PURE__ */ constantStore(0);

/** How loud a microphone is, from silence to full. */
export function Level({ track }: { track: MediaStreamTrack | null }) {
  const { level: label } = useTexts();
  const [meter, setMeter] = useState<LevelMeter | null>(null);
  const percent = Math.round(useStore(meter?.level ?? silence) * 100);
  useEffect(() => {
    if (!track) return;
    const made = createLevelMeter(track);
    setMeter(made);
    return () => {
      setMeter(null);
      made.stop();
    };
  }, [track]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a meter element looks different in every browser.
    <div className="parley-level" role="meter" aria-label={label} aria-valuenow={percent}>
      <span className="parley-level-bar" style={{ inlineSize: `${Math.min(100, percent)}%` }} />
    </div>
  );
}
