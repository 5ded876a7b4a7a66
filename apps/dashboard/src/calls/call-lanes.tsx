import type { CallDetail, CallParticipant } from '@parley/contract';
import { span } from '../kit/numbers.ts';
import { Time } from '../kit/time.tsx';
import { markOf } from './words.tsx';

/** Who was there when, and what they did: one lane a participant. The list of steps below says the same in words. */
export function CallLanes({ call }: { call: CallDetail }) {
  const start = Math.min(Date.parse(call.startedAt), ...stayTimes(call).map(({ from }) => from));
  const end = Math.max(Date.parse(call.lastSampleAt), ...stayTimes(call).map(({ until }) => until), start + 1_000);
  const placeOf = (at: string): string => `${((Date.parse(at) - start) / (end - start)) * 100}%`;
  return (
    <section className="panel stack-small" aria-labelledby="lanes">
      <h2 id="lanes">Timeline</h2>
      <p className="muted">
        From <Time at={new Date(start).toISOString()} />, {span(end - start)}.
      </p>
      <ul className="lanes" aria-label="Participants">
        {call.participants.map((participant) => (
          <li key={participant.name} className="lane">
            <span className="lane-name">{participant.name}</span>
            <span className="lane-track">
              {participant.stays.map(({ connectionId, from, until, state }) => (
                <span
                  key={connectionId}
                  className="lane-bar"
                  data-state={state}
                  role="img"
                  aria-label={`${participant.name} was connected for ${span(lengthOf({ from, until }, end))}`}
                  style={{ left: placeOf(from), width: `${(lengthOf({ from, until }, end) / (end - start)) * 100}%` }}
                />
              ))}
              <Marks participant={participant} placeOf={placeOf} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Marks({ participant, placeOf }: { participant: CallParticipant; placeOf: (at: string) => string }) {
  return participant.steps.map((step, index) => {
    const mark = markOf(step);
    if (!mark) return null;
    const [word, tone] = mark;
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: steps are in order and have no id of their own.
      <span key={index} className="lane-mark" data-tone={tone} title={word} style={{ left: placeOf(step.at) }} />
    );
  });
}

const lengthOf = ({ from, until }: { from: string; until: string | null }, end: number): number =>
  Math.max(0, (until === null ? end : Date.parse(until)) - Date.parse(from));

const stayTimes = ({ participants }: CallDetail): { from: number; until: number }[] =>
  participants.flatMap(({ stays }) =>
    stays.map(({ from, until }) => ({ from: Date.parse(from), until: Date.parse(until ?? from) })),
  );
