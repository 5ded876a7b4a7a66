import type { Connection } from '@parley/contract';
import { t } from '../i18n/t.ts';
import { Chart, type ChartPoint } from '../kit/chart.tsx';
import { count } from '../kit/numbers.ts';

const bucketsMax = 30;
/** Connections of one minute are one narrow bar, not the whole chart. */
const bucketsMin = 12;

const seriesOf = ({ state, connectedAt }: Connection): number => {
  if (state === 'FAILED') return 2;
  return connectedAt === null && state === 'CONNECTING' ? 1 : 0;
};

/** How the loaded connections ended, over the time they span. */
export function Outcomes({ connections }: { connections: readonly Connection[] }) {
  const starts = connections.map(({ startedAt }) => Date.parse(startedAt));
  const [first, until] = [Math.min(...starts), Math.max(...starts)];
  const step = Math.max(60_000, Math.ceil((until - first + 1) / bucketsMax));
  const from = Math.min(first, until - (bucketsMin - 1) * step);
  const points: ChartPoint[] = Array.from({ length: Math.floor((until - from) / step) + 1 }, (_, index) => ({
    at: new Date(from + index * step).toISOString(),
    values: [0, 0, 0],
  }));
  const counts = points.map(() => [0, 0, 0]);
  for (const connection of connections) {
    const bucket = counts[Math.floor((Date.parse(connection.startedAt) - from) / step)];
    const at = seriesOf(connection);
    if (bucket) bucket[at] = (bucket[at] ?? 0) + 1;
  }
  return (
    <Chart
      title={t('observability.outcomes')}
      kind="bars"
      points={points.map((point, index) => ({ ...point, values: counts[index] ?? [] }))}
      series={[t('words.connected'), t('observability.trying'), t('words.failed')]}
      format={count}
    />
  );
}
