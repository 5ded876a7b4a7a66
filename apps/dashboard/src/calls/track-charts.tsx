import type { CallDetail, CallPoint, CallTrack } from '@parley/contract';
import type { PlainKey } from '../i18n/catalogue.ts';
import { t } from '../i18n/t.ts';
import { Chart, type ChartPoint } from '../kit/chart.tsx';
import { EmptyState } from '../kit/empty-state.tsx';
import { SelectField } from '../kit/field.tsx';
import { bitRate, count, span } from '../kit/numbers.ts';
import { sidesOf, type TrackSide } from './track-sides.ts';
import { trackWords } from './words.tsx';

interface Measure {
  title: PlainKey;
  name: keyof Omit<CallPoint, 'at'>;
  format: (value: number) => string;
  kinds: readonly CallTrack['kind'][];
  note?: PlainKey;
}

const both = ['audio', 'video'] as const;
const measures: readonly Measure[] = [
  { title: 'calls.bitrate', name: 'kbps', format: (value) => bitRate(value * 1_000), kinds: both },
  {
    title: 'calls.packetsLost',
    name: 'lossPercent',
    format: (value) => t('kit.percent', { value: count(value) }),
    kinds: both,
  },
  { title: 'calls.roundTrip', name: 'rttMs', format: span, kinds: both },
  { title: 'calls.jitter', name: 'jitterMs', format: span, kinds: both },
  { title: 'calls.framesASecond', name: 'fps', format: count, kinds: ['video'] },
  { title: 'calls.timeFrozen', name: 'freezeMs', format: span, kinds: ['video'] },
  {
    title: 'calls.layer',
    name: 'height',
    format: (value) => t('calls.pixels', { value }),
    kinds: ['video'],
    note: 'calls.layerNote',
  },
];

/** What was measured of one track: by who sent it, by the media node, and by everybody who received it. */
export function TrackCharts({
  call,
  trackId,
  onChoose,
}: {
  call: CallDetail;
  trackId: string;
  onChoose: (trackId: string) => void;
}) {
  const tracks = new Map(call.participants.flatMap(({ tracks: own }) => own).map((track) => [track.id, track]));
  const chosen = tracks.get(trackId) ?? [...tracks.values()][0];
  if (!chosen) {
    return (
      <EmptyState title={t('calls.nothingMeasured')}>
        <p>{t('calls.figuresFrom')}</p>
      </EmptyState>
    );
  }
  const sides = sidesOf(call, chosen.id);
  const sender = call.participants.find(({ name }) => name === chosen.publisher);
  return (
    <>
      <div className="filters">
        <SelectField
          label={t('words.track')}
          value={chosen.id}
          options={[...tracks.values()].map((track) => ({ value: track.id, label: trackWords(track) }))}
          onChange={(event) => onChoose(event.target.value)}
        />
      </div>
      <div className="columns">
        {measures
          .filter(({ kinds }) => kinds.includes(chosen.kind))
          .map(({ name, title, note, ...chart }) => (
            <Chart
              key={name}
              {...chart}
              title={t(title)}
              {...(note ? { note: t(note) } : {})}
              kind="line"
              {...seriesOf(sides, name)}
            />
          ))}
        {sender && (
          <Chart
            title={t('calls.bandwidth')}
            kind="line"
            series={[t('calls.from', { name: sender.name })]}
            format={(value) => bitRate(value * 1_000)}
            points={sender.bandwidth.map(({ at, kbps }): ChartPoint => ({ at, values: [kbps] }))}
          />
        )}
      </div>
    </>
  );
}

/** The lines of one measure; the node does not know every one. */
function seriesOf({ series, rows }: ReturnType<typeof sidesOf>, name: Measure['name']) {
  const known = series.flatMap((side, index) =>
    side.measuredBy === 'client' || rows.some(({ points }) => (points[index]?.[name] ?? null) !== null)
      ? [{ side, index }]
      : [],
  );
  return {
    series: known.map(({ side }) => sideWords(side)),
    points: rows.map(
      ({ at, points }): ChartPoint => ({
        at,
        values: known.map(({ index }) => points[index]?.[name] ?? null),
      }),
    ),
  };
}

const sideTexts = {
  client: { out: 'calls.sentBy', in: 'calls.receivedBy' },
  node: { out: 'calls.nodeFrom', in: 'calls.nodeTo' },
} as const;

const sideWords = ({ name, direction, measuredBy }: TrackSide): string => t(sideTexts[measuredBy][direction], { name });
