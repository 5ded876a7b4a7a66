import { type KeyboardEvent, type PointerEvent, useId, useState } from 'react';
import { usePreferences } from '../frame/preferences.ts';
import { currentLocale } from '../i18n/language.ts';
import { t } from '../i18n/t.ts';
import { Button } from './button.tsx';
import {
  barSpan,
  plotHeight as height,
  lineX,
  needsSeconds,
  type PlotKind,
  pointAt,
  roundTop,
  tickIndexes,
  tickPlace,
  valueY,
  plotWidth as width,
} from './plot.ts';
import { Table } from './table.tsx';
import { Time } from './time.tsx';

export interface ChartPoint {
  at: string;
  /** One value for each series; null is a gap. */
  values: readonly (number | null)[];
}

interface ChartProps {
  title: string;
  /** `bars` stacks the series. */
  kind: PlotKind;
  points: readonly ChartPoint[];
  series: readonly string[];
  format: (value: number) => string;
  /** The top of the scale; a round number above the largest value unless given. */
  max?: number;
  note?: string;
  /** What a point in time is written as; days are UTC. */
  scale?: 'clock' | 'day';
}

type LabelOf = (at: string) => string;

/** A chart that can be read by eye, by arrow keys and as a table. */
export function Chart({ title, kind, points, series, format, max, note, scale = 'clock' }: ChartProps) {
  const { timeZone } = usePreferences();
  const withSeconds = scale === 'clock' && needsSeconds(points.map((point) => point.at));
  const labelOf = scale === 'day' ? dayOf : clockOf(timeZone, withSeconds);
  const titleId = useId();
  const [isTable, setTable] = useState(false);
  const [at, setAt] = useState<number | null>(null);
  const top = max ?? topOf(points, kind);
  const isEmpty = points.every(({ values }) => values.every((value) => value === null));
  const shown = at === null ? undefined : points[Math.min(at, points.length - 1)];
  return (
    <section className="panel chart" aria-labelledby={titleId}>
      <div className="chart-head">
        <h2 id={titleId}>{title}</h2>
        {!isEmpty && (
          <Button variant="quiet" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
            {t('kit.viewAsTable')}
          </Button>
        )}
      </div>
      {isEmpty ? (
        <p className="no-data">{t('kit.noData')}</p>
      ) : isTable ? (
        <ChartTable title={title} points={points} series={series} format={format} scale={scale} />
      ) : (
        <>
          <div className="chart-plot">
            <span className="chart-scale">{format(top)}</span>
            <span className="chart-scale chart-scale-half">{format(top / 2)}</span>
            <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
              {kind === 'bars' ? (
                <Bars points={points} top={top} at={at} />
              ) : (
                <Lines points={points} series={series} top={top} at={at} />
              )}
            </svg>
            <Cursor {...{ label: title, kind, points, series, format, labelOf, at }} onMove={setAt} />
          </div>
          <Ticks kind={kind} points={points} labelOf={labelOf} names={withSeconds ? 'long' : 'short'} />
          <Readout {...{ series, format, labelOf, shown }} />
        </>
      )}
      {note && <p className="muted">{note}</p>}
    </section>
  );
}

const sumOf = (values: readonly (number | null)[]): number =>
  values.reduce<number>((sum, value) => sum + (value ?? 0), 0);

function topOf(points: readonly ChartPoint[], kind: ChartProps['kind']): number {
  const tops = points.map(({ values }) =>
    kind === 'bars' ? sumOf(values) : Math.max(0, ...values.map((v) => v ?? 0)),
  );
  return roundTop(Math.max(0, ...tops));
}

/** Points in time along the axis; the middle ones give way where it is narrow. */
function Ticks({
  kind,
  points,
  labelOf,
  names,
}: Pick<ChartProps, 'kind' | 'points'> & { labelOf: LabelOf; names: 'short' | 'long' }) {
  return (
    <div className="chart-ticks" aria-hidden="true">
      {tickIndexes(points.length, names).map((index) => {
        const place = tickPlace(kind, index, points.length);
        const edge = place < 0.08 ? 'start' : place > 0.92 ? 'end' : undefined;
        return (
          <span key={index} data-edge={edge} style={{ left: `${place * 100}%` }}>
            {labelOf(points[index]?.at ?? '')}
          </span>
        );
      })}
    </div>
  );
}

interface PlotProps {
  points: readonly ChartPoint[];
  top: number;
  at: number | null;
}

function Lines({ points, series, top, at }: PlotProps & { series: readonly string[] }) {
  return (
    <>
      {series.map((name, index) => (
        <g key={name} className={`series-${index + 1}`}>
          <path d={lineOf(points, index, top)} className="chart-line" />
          {points.map(({ at: time, values }, position) => {
            // A value between two gaps is no line: it is drawn as a dot.
            const value = values[index];
            const isAlone = points[position - 1]?.values[index] == null && points[position + 1]?.values[index] == null;
            if (value == null || !isAlone) return null;
            const [x, y] = [lineX(position, points.length), valueY(value, top)];
            return <path key={time} className="chart-dot" d={`M${x} ${y}h0.01`} />;
          })}
        </g>
      ))}
      {at !== null && <path className="chart-cursor" d={`M${lineX(at, points.length)} 0V${height}`} />}
    </>
  );
}

function lineOf(points: readonly ChartPoint[], index: number, top: number): string {
  let isDown = false;
  return points
    .map(({ values }, position) => {
      const value = values[index];
      if (value == null) {
        isDown = false;
        return '';
      }
      const step = `${isDown ? 'L' : 'M'}${lineX(position, points.length).toFixed(1)} ${valueY(value, top).toFixed(1)}`;
      isDown = true;
      return step;
    })
    .join('');
}

function Bars({ points, top, at }: PlotProps) {
  return points.map(({ at: time, values }, position) => {
    let base = height;
    const { x, width: thick } = barSpan(position, points.length);
    return (
      <g key={time} opacity={at === null || at === position ? 1 : 0.45}>
        {values.map((value, index) => {
          const size = ((value ?? 0) / top) * height;
          base -= size;
          const name = `series-${index + 1}`;
          return <rect key={name} className={`${name} chart-bar`} x={x} y={base} width={thick} height={size} />;
        })}
      </g>
    );
  });
}

interface CursorProps {
  label: string;
  kind: PlotKind;
  points: readonly ChartPoint[];
  series: readonly string[];
  format: (value: number) => string;
  labelOf: LabelOf;
  at: number | null;
  onMove: (at: number | null) => void;
}

/** A slider over the plot: arrow keys and the pointer move it, and its value is read out. */
function Cursor({ label, kind, points, series, format, labelOf, at, onMove }: CursorProps) {
  const last = points.length - 1;
  const now = Math.min(at ?? last, last);
  const point = points[now];
  const words = point
    ? `${labelOf(point.at)}: ${series.map((name, index) => `${name} ${valueWords(point.values[index], format)}`).join(', ')}`
    : '';

  function onKeyDown(event: KeyboardEvent): void {
    const steps: Readonly<Record<string, number>> = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    onMove(Math.max(0, Math.min(last, next)));
  }
  function onPointerMove(event: PointerEvent): void {
    const box = event.currentTarget.getBoundingClientRect();
    onMove(pointAt(kind, (event.clientX - box.left) / box.width, points.length));
  }
  return (
    <div
      className="chart-slider"
      role="slider"
      tabIndex={0}
      aria-label={t('kit.pointInTime', { label })}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={now}
      aria-valuetext={words}
      onKeyDown={onKeyDown}
      onPointerMove={onPointerMove}
      onPointerLeave={() => onMove(null)}
      onBlur={() => onMove(null)}
    />
  );
}

const clockOf =
  (timeZone: 'local' | 'utc', withSeconds: boolean): LabelOf =>
  (at) =>
    new Date(at).toLocaleTimeString(currentLocale(), {
      hour: '2-digit',
      minute: '2-digit',
      ...(withSeconds ? { second: '2-digit' } : {}),
      ...(timeZone === 'utc' ? { timeZone: 'UTC' } : {}),
    });

const dayOf: LabelOf = (at) =>
  new Date(at).toLocaleDateString(currentLocale(), { day: 'numeric', month: 'short', timeZone: 'UTC' });

const valueWords = (value: number | null | undefined, format: (value: number) => string): string =>
  value == null ? t('kit.noDataWord') : format(value);

function Readout({
  series,
  format,
  labelOf,
  shown,
}: Pick<CursorProps, 'series' | 'format' | 'labelOf'> & { shown: ChartPoint | undefined }) {
  return (
    <div className="chart-legend">
      {series.map((name, index) => (
        <span key={name} className={`series-${index + 1}`}>
          <span className="chart-key" aria-hidden="true" />
          {name}
          {shown && ` ${valueWords(shown.values[index], format)}`}
        </span>
      ))}
      {shown && <span>{t('kit.at', { time: labelOf(shown.at) })}</span>}
    </div>
  );
}

function ChartTable({
  title,
  points,
  series,
  format,
  scale,
}: Pick<ChartProps, 'title' | 'points' | 'series' | 'format' | 'scale'>) {
  return (
    <div className="chart-table">
      <Table
        caption={title}
        rows={points.toReversed()}
        keyOf={({ at }) => at}
        columns={[
          scale === 'day'
            ? { head: t('kit.dayUtc'), cell: ({ at }) => at.slice(0, 10) }
            : { head: t('kit.time'), cell: ({ at }) => <Time at={at} /> },
          ...series.map((name, index) => ({
            head: name,
            cell: ({ values }: ChartPoint) => valueWords(values[index], format),
          })),
        ]}
      />
    </div>
  );
}
