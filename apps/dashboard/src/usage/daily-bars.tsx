import type { UsageDay } from '@parley/contract';
import { Chart } from '../kit/chart.tsx';
import { decimal } from '../kit/numbers.ts';
import { t } from './texts.ts';

/** Minutes a day, in UTC. */
export function DailyBars({ days }: { days: readonly UsageDay[] }) {
  const points = days
    .map(({ date, minutes }) => ({ at: `${date.slice(0, 10)}T00:00:00.000Z`, values: [minutes] }))
    .toSorted((a, b) => a.at.localeCompare(b.at));
  return (
    <Chart
      title={t('usage.minutesADay')}
      kind="bars"
      points={points}
      series={[t('usage.minutes')]}
      format={(value) => decimal(value)}
      scale="day"
    />
  );
}
