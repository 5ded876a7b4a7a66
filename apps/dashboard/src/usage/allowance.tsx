import type { Usage } from '@parley/contract';
import { t } from '../i18n/t.ts';
import { Badge } from '../kit/badge.tsx';
import { MeterBar } from '../kit/figure.tsx';
import { decimal } from '../kit/numbers.ts';

/** What is spent of the free minutes over all of the person's own projects. */
export function Allowance({ usage }: { usage: Usage }) {
  const { freeMinutes, usedMinutes, remainingMinutes, percentUsed } = usage;
  const tone = percentUsed >= 100 ? 'bad' : percentUsed >= 80 ? 'warn' : 'ok';
  return (
    <section className="panel stack-small" aria-labelledby="allowance">
      <div className="row">
        <h2 id="allowance">{t('overview.freeMinutes')}</h2>
        {tone !== 'ok' && (
          <Badge tone={tone} shape="square">
            {tone === 'bad' ? t('overview.usedUp') : t('overview.almostUsedUp')}
          </Badge>
        )}
      </div>
      <MeterBar share={percentUsed / 100} isLarge />
      <p className="muted">
        {t('overview.minutesUsed', {
          used: decimal(usedMinutes),
          free: freeMinutes,
          left: decimal(remainingMinutes),
        })}
        {usedMinutes === 0 && `. ${t('overview.minutesCounted')}`}
      </p>
    </section>
  );
}
