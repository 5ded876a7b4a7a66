import type { CallDetail, CallPoint, CallTrack } from '@parley/contract';
import { Chart, type ChartPoint } from '../kit/chart.tsx';
import { EmptyState } from '../kit/empty-state.tsx';
import { SelectField } from '../kit/field.tsx';
import { bitRate, count, span } from '../kit/numbers.ts';
import { sidesOf, type TrackSide } from './track-sides.ts';
import { trackWords } from './words.tsx';

interface Measure {
  title: string;
  name: keyof Omit<CallPoint, 'at'>;
  format: (value: number) => string;
  kinds: readonly CallTrack['kind'][];
  note?: string;
}

const both = ['audio', 'video'] as const;
const measures: readonly Measure[] = [
  { title: 'Bitrate', name: 'kbps', format: (value) => bitRate(value * 1_000), kinds: both },
  { title: 'Packets lost', name: 'lossPercent', format: (value) => `${count(value)} %`, kinds: both },
  { title: 'Round trip', name: 'rttMs', format: span, kinds: both },
  { title: 'Jitter', name: 'jitterMs', format: span, kinds: both },
  { title: 'Frames a second', name: 'fps', format: count, kinds: ['video'] },
  { title: 'Time frozen', name: 'freezeMs', format: span, kinds: ['video'] },
  {
    title: 'Layer',
    name: 'height',
    format: (value) => `${count(value)} px`,
    kinds: ['video'],
    note: 'Height of the picture: the highest that was sent, and the one that was received.',
  },
];

/** What was measured of one track, by who sent it and by everybody who received it. */
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
      <EmptyState title="Nothing was measured">
        <p>Figures come from the SDK, 20 seconds after somebody published a track. They are kept for 7 days.</p>
      </EmptyState>
    );
  }
  const sides = sidesOf(call, chosen.id);
  const sender = call.participants.find(({ name }) => name === chosen.publisher);
  return (
    <>
      <div className="filters">
        <SelectField
          label="Track"
          value={chosen.id}
          options={[...tracks.values()].map((track) => ({ value: track.id, label: trackWords(track) }))}
          onChange={(event) => onChoose(event.target.value)}
        />
      </div>
      <div className="columns">
        {measures
          .filter(({ kinds }) => kinds.includes(chosen.kind))
          .map(({ name, ...chart }) => (
            <Chart
              key={name}
              {...chart}
              kind="line"
              series={sides.series.map(sideWords)}
              points={sides.rows.map(({ at, points }) => ({
                at,
                values: points.map((point) => point?.[name] ?? null),
              }))}
            />
          ))}
        {sender && (
          <Chart
            title="Available bandwidth"
            kind="line"
            series={[`From ${sender.name}`]}
            format={(value) => bitRate(value * 1_000)}
            points={sender.bandwidth.map(({ at, kbps }): ChartPoint => ({ at, values: [kbps] }))}
          />
        )}
      </div>
    </>
  );
}

const sideWords = ({ name, direction }: TrackSide): string =>
  direction === 'out' ? `Sent by ${name}` : `Received by ${name}`;
