import type { RtcServer, ServerLoadPoint } from '@parley/contract';
import { listOf, t } from '../i18n/t.ts';
import { Chart } from '../kit/chart.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { decimal } from '../kit/numbers.ts';

export const percentOf = (value: number): string => t('kit.percent', { value: decimal(value) });

/** More bars or lines than this nobody tells apart. */
const linesMax = 6;

/** The node's CPU as one number, and a bar for each of its cores. */
export function CpuLoad({ server: { cpuPercent, coreCpuPercents } }: { server: RtcServer }) {
  if (cpuPercent === null) return <NoData />;
  return (
    <span className="cores">
      {percentOf(cpuPercent)}
      {coreCpuPercents !== null && coreCpuPercents.length > 1 && <CoreBars percents={coreCpuPercents} />}
    </span>
  );
}

const [barPx, heightPx] = [7, 20];

function CoreBars({ percents }: { percents: readonly number[] }) {
  const width = percents.length * barPx;
  return (
    <svg
      className="core-bars"
      width={width}
      height={heightPx}
      viewBox={`0 0 ${width} ${heightPx}`}
      role="img"
      aria-label={t('fleet.coresLabel', { list: listOf(percents.map(percentOf)) })}
    >
      {percents.map((percent, index) => {
        const height = Math.max(1, (percent / 100) * heightPx);
        const bar = { x: index * barPx, y: heightPx - height, width: barPx - 1, height };
        // biome-ignore lint/suspicious/noArrayIndexKey: a core is its place.
        return <rect key={index} {...bar} data-tone={percent >= 90 ? 'bad' : percent >= 70 ? 'warn' : 'ok'} />;
      })}
    </svg>
  );
}

/** A line for each core; of many the busiest, the mean and the least busy. */
export function CoreChart({ points }: { points: readonly ServerLoadPoint[] }) {
  const cores = Math.max(0, ...points.map(({ coreCpuPercents }) => coreCpuPercents?.length ?? 0));
  if (cores < 2) return null;
  const isMany = cores > linesMax;
  return (
    <Chart
      title={t('fleet.chartCores')}
      kind="line"
      points={points.map(({ at, coreCpuPercents }) => ({
        at,
        values: isMany
          ? spreadOf(coreCpuPercents)
          : Array.from({ length: cores }, (_, i) => coreCpuPercents?.[i] ?? null),
      }))}
      series={
        isMany
          ? [t('fleet.busiest'), t('fleet.mean'), t('fleet.least')]
          : Array.from({ length: cores }, (_, index) => t('fleet.core', { number: index + 1 }))
      }
      format={percentOf}
      max={100}
    />
  );
}

function spreadOf(percents: readonly number[] | null): (number | null)[] {
  if (percents === null || percents.length === 0) return [null, null, null];
  const mean = percents.reduce((sum, percent) => sum + percent, 0) / percents.length;
  return [Math.max(...percents), mean, Math.min(...percents)];
}
