import type { ReactNode } from 'react';
import { NoData } from './empty-state.tsx';

interface FigureRow {
  label: string;
  /** Null is unknown, and is said so. */
  value: ReactNode | null;
  note?: ReactNode;
  /** Beside the note: how it went. */
  chart?: ReactNode;
}

/** The few numbers a page is about. */
export function Figures({ label, figures }: { label: string; figures: readonly FigureRow[] }) {
  return (
    <dl className="figures" aria-label={label}>
      {figures.map(({ label: name, value, note, chart }) => (
        <div key={name} className="figure">
          <dt>{name}</dt>
          <dd>
            <span className="figure-value">{value ?? <NoData />}</span>
            {note && <span className="figure-note">{note}</span>}
            {chart}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const toneOf = (share: number, isProgress: boolean): string =>
  isProgress ? 'ok' : share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : 'ok';

interface BarLook {
  isLarge?: boolean;
  /** Full is good: how far something is, not how full. */
  isProgress?: boolean;
}

/** A bar beside the words that say the same. */
export function MeterBar({ share, isLarge = false, isProgress = false }: BarLook & { share: number }) {
  return (
    <span
      className={`meter-bar ${isLarge ? 'meter-bar-large' : ''}`}
      data-tone={toneOf(share, isProgress)}
      aria-hidden="true"
    >
      <span style={{ width: `${Math.min(1, share) * 100}%` }} />
    </span>
  );
}

/** How full something is. */
export function Meter({ value, max, text, ...look }: BarLook & { value: number; max: number; text: string }) {
  return (
    <span className="meter">
      <span className="meter-text">{text}</span>
      <MeterBar share={max > 0 ? value / max : 0} {...look} />
    </span>
  );
}
