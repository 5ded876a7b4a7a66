import { createLevelMeter, type LevelMeter } from '@parley/client';
import { useStore } from '@parley/client/react';
import { useEffect, useState } from 'react';
import { useTexts } from '../texts.tsx';

/** How loud a microphone is, from silence to full. */
export function Level({ track }: { track: MediaStreamTrack | null }) {
  const [meter, setMeter] = useState<LevelMeter | null>(null);
  useEffect(() => {
    if (!track) return;
    const made = createLevelMeter(track);
    setMeter(made);
    return () => {
      setMeter(null);
      made.stop();
    };
  }, [track]);
  return meter ? <LiveBar meter={meter} /> : <LevelBar level={0} />;
}

const LiveBar = ({ meter }: { meter: LevelMeter }) => <LevelBar level={useStore(meter.level)} />;

export function LevelBar({ level }: { level: number }) {
  const { level: label } = useTexts();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a meter element looks different in every browser.
    <div className="parley-level" role="meter" aria-label={label} aria-valuenow={Math.round(level * 100)}>
      <span className="parley-level-bar" style={{ inlineSize: `${Math.min(100, Math.round(level * 100))}%` }} />
    </div>
  );
}
