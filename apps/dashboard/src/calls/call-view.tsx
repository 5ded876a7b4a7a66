import type { CallDetail, CallParticipant } from '@parley/contract';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { Figures } from '../kit/figure.tsx';
import { decimal, span } from '../kit/numbers.ts';
import { Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { CallLanes } from './call-lanes.tsx';
import { TrackCharts } from './track-charts.tsx';
import { Score } from './words.tsx';

/** A call from what was wrong with it down to every figure. */
export function CallView({
  call,
  trackId,
  onTrack,
}: {
  call: CallDetail;
  /** The one whose figures are shown; the first unless there is such a one. */
  trackId: string;
  onTrack: (trackId: string) => void;
}) {
  return (
    <>
      <Figures
        label="Call"
        figures={[
          { label: 'Score', value: <Score score={call.score} />, note: 'of 5' },
          { label: 'Worst of a participant', value: <Score score={call.worstScore} /> },
          { label: 'Participants', value: call.participants.length },
          { label: 'Length', value: span(Date.parse(call.lastSampleAt) - Date.parse(call.startedAt)) },
        ]}
      />
      <Findings call={call} onTrack={onTrack} />
      <CallLanes call={call} />
      <Participants participants={call.participants} />
      <section className="stack" aria-labelledby="tracks">
        <h2 id="tracks">Tracks</h2>
        <TrackCharts call={call} trackId={trackId} onChoose={onTrack} />
      </section>
      <Steps participants={call.participants} />
    </>
  );
}

function Findings({ call, onTrack }: { call: CallDetail; onTrack: (trackId: string) => void }) {
  return (
    <section className="panel stack-small" aria-labelledby="findings">
      <h2 id="findings">What was wrong</h2>
      {call.findings.length === 0 ? (
        <p className="muted">Nothing that a rule looks for.</p>
      ) : (
        <>
          <ul className="stack-small">
            {call.findings.map(({ rule, because, sentence, from, trackId }) => (
              <li key={`${rule}${sentence}${from}`} className="two-lines">
                <span>
                  {sentence} <Badge shape="square">{rule}</Badge>
                </span>
                <span className="muted">{because}</span>
                {trackId !== null && (
                  <span>
                    <Button variant="quiet" aria-label={`Show the track: ${sentence}`} onClick={() => onTrack(trackId)}>
                      Show the track
                    </Button>
                  </span>
                )}
              </li>
            ))}
          </ul>
          <p className="muted">Times in these sentences are UTC.</p>
        </>
      )}
    </section>
  );
}

function Participants({ participants }: { participants: readonly CallParticipant[] }) {
  return (
    <Table
      caption="Participants"
      rows={participants}
      keyOf={({ name }) => name}
      columns={[
        { head: 'Participant', cell: ({ name }) => name },
        { head: 'Score', cell: ({ score }) => <Score score={score} /> },
        {
          head: 'Sound (MOS)',
          align: 'end',
          cell: ({ audioMos }) => (audioMos === null ? <NoData /> : decimal(audioMos)),
        },
        {
          head: 'Picture',
          align: 'end',
          cell: ({ videoScore }) => (videoScore === null ? <NoData /> : decimal(videoScore)),
        },
        { head: 'Connections', align: 'end', cell: ({ stays }) => stays.length },
        {
          head: 'Path',
          cell: ({ stays }) => [...new Set(stays.flatMap(({ transport }) => transport ?? []))].join(', ') || <NoData />,
        },
      ]}
    />
  );
}

const stepsMax = 500;

function Steps({ participants }: { participants: readonly CallParticipant[] }) {
  const steps = participants
    .flatMap(({ name, steps: own }) => own.map((step, index) => ({ ...step, name, key: `${name}/${index}` })))
    .sort((a, b) => a.at.localeCompare(b.at))
    .slice(0, stepsMax);
  return (
    <section className="stack" aria-labelledby="steps">
      <h2 id="steps">Everything that happened</h2>
      <Table
        caption="Steps in the order they happened"
        rows={steps}
        keyOf={({ key }) => key}
        columns={[
          { head: 'Time', cell: ({ at }) => <Time at={at} /> },
          { head: 'Participant', cell: ({ name }) => name },
          { head: 'Step', cell: ({ type }) => <span className="mono">{type}</span> },
          { head: 'Seen by', cell: ({ source }) => (source === 'SERVER' ? 'server' : 'client') },
          { head: 'Detail', cell: ({ detail }) => detail ?? <NoData /> },
        ]}
      />
    </section>
  );
}
