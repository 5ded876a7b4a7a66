import type { Quality } from '@parley/client';
import { useTexts } from '../texts.tsx';

const BARS: Record<Quality, number> = { good: 3, fair: 2, poor: 1, lost: 0 };

/** Three bars, and the same in words. */
export function QualityBars({ quality }: { quality: Quality }) {
  const { quality: say } = useTexts();
  return (
    <span className="parley-quality" data-quality={quality} title={say(quality)}>
      {[1, 2, 3].map((bar) => (
        <span key={bar} data-lit={bar <= BARS[quality] || undefined} />
      ))}
      <span className="parley-hidden">{say(quality)}</span>
    </span>
  );
}
