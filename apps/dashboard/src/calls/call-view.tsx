import type { CallDetail, CallParticipant } from '@parley/contract';
import { t } from '../i18n/t.ts';
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
        label={t('calls.call')}
        figures={[
          { label: t('calls.score'), value: <Score score={call.score} />, note: t('calls.ofFive') },
          { label: t('calls.worstOfOne'), value: <Score score={call.worstScore} /> },
          { label: t('words.participants'), value: call.participants.length },
          { label: t('calls.length'), value: span(Date.parse(call.lastSampleAt) - Date.parse(call.startedAt)) },
        ]}
      />
      <Findings call={call} onTrack={onTrack} />
      <CallLanes call={call} />
      <Participants participants={call.participants} />
      <section className="stack" aria-labelledby="tracks">
        <h2 id="tracks">{t('rooms.tracks')}</h2>
        <TrackCharts call={call} trackId={trackId} onChoose={onTrack} />
      </section>
      <Steps participants={call.participants} />
    </>
  );
}

function Findings({ call, onTrack }: { call: CallDetail; onTrack: (trackId: string) => void }) {
  return (
    <section className="panel stack-small" aria-labelledby="findings">
      <h2 id="findings">{t('calls.whatWasWrong')}</h2>
      {call.findings.length === 0 ? (
        <p className="muted">{t('calls.nothingFound')}</p>
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
                    <Button
                      variant="quiet"
                      aria-label={t('calls.showTrackOf', { sentence })}
                      onClick={() => onTrack(trackId)}
                    >
                      {t('calls.showTrack')}
                    </Button>
                  </span>
                )}
              </li>
            ))}
          </ul>
          <p className="muted">{t('calls.sentencesUtc')}</p>
        </>
      )}
    </section>
  );
}

function Participants({ participants }: { participants: readonly CallParticipant[] }) {
  return (
    <Table
      caption={t('words.participants')}
      rows={participants}
      keyOf={({ name }) => name}
      columns={[
        { head: t('words.participant'), cell: ({ name }) => name },
        { head: t('calls.score'), cell: ({ score }) => <Score score={score} /> },
        {
          head: t('calls.sound'),
          align: 'end',
          cell: ({ audioMos }) => (audioMos === null ? <NoData /> : decimal(audioMos)),
        },
        {
          head: t('calls.picture'),
          align: 'end',
          cell: ({ videoScore }) => (videoScore === null ? <NoData /> : decimal(videoScore)),
        },
        { head: t('page.connections'), align: 'end', cell: ({ stays }) => stays.length },
        {
          head: t('calls.path'),
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
      <h2 id="steps">{t('calls.everything')}</h2>
      <Table
        caption={t('calls.stepsCaption')}
        rows={steps}
        keyOf={({ key }) => key}
        columns={[
          { head: t('kit.time'), cell: ({ at }) => <Time at={at} /> },
          { head: t('words.participant'), cell: ({ name }) => name },
          { head: t('calls.step'), cell: ({ type }) => <span className="mono">{type}</span> },
          {
            head: t('calls.seenBy'),
            cell: ({ source }) => (source === 'SERVER' ? t('calls.byServer') : t('calls.byClient')),
          },
          { head: t('calls.detail'), cell: ({ detail }) => detail ?? <NoData /> },
        ]}
      />
    </section>
  );
}
