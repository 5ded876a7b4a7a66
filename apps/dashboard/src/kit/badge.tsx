import type { ReactNode } from 'react';

export type Tone = 'ok' | 'warn' | 'bad' | 'accent' | 'plain';

/** A state by word, colour and shape: filled is live, ring is idle, square is over. */
export function Badge({
  tone = 'plain',
  shape = 'dot',
  children,
}: {
  tone?: Tone;
  shape?: 'dot' | 'ring' | 'square';
  children: ReactNode;
}) {
  return (
    <span className="badge" data-tone={tone}>
      <span className="badge-mark" data-shape={shape} aria-hidden="true" />
      {children}
    </span>
  );
}
