import type { Usage } from '@parley/contract';
import { Badge } from '../kit/badge.tsx';
import { MeterBar } from '../kit/figure.tsx';
import { count, decimal } from '../kit/numbers.ts';

/** What is spent of the free minutes over all of the person's own projects. */
export function Allowance({ usage }: { usage: Usage }) {
  const { freeMinutes, usedMinutes, remainingMinutes, percentUsed } = usage;
  const tone = percentUsed >= 100 ? 'bad' : percentUsed >= 80 ? 'warn' : 'ok';
  return (
    <section className="panel stack-small" aria-labelledby="allowance">
      <div className="row">
        <h2 id="allowance">Free minutes of your projects</h2>
        {tone !== 'ok' && (
          <Badge tone={tone} shape="square">
            {tone === 'bad' ? 'Used up' : 'Almost used up'}
          </Badge>
        )}
      </div>
      <MeterBar share={percentUsed / 100} isLarge />
      <p className="muted">
        {decimal(usedMinutes)} of {count(freeMinutes)} minutes used, {decimal(remainingMinutes)} left
        {usedMinutes === 0 && '. Minutes are counted when a participant is connected to a room.'}
      </p>
    </section>
  );
}
