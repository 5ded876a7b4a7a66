import type { CallDetail, CallParticipant } from '@parley/contract';
import { listOf, t, withNodes } from '../i18n/t.ts';
import { span } from '../kit/numbers.ts';
import { Time } from '../kit/time.tsx';
import { type LayerSpan, receivedLayersOf, timeByHeight } from './received-layers.ts';
import { markOf, trackWords } from './words.tsx';

/** Who was there when, and what they did: one lane a participant. The list of steps below says the same in words. */
export function CallLanes({ call }: { call: CallDetail }) {
  const layers = call.participants.flatMap(receivedLayersOf).flatMap(({ spans }) => spans);
  const times = [...stayTimes(call), ...layers];
  const start = Math.min(Date.parse(call.startedAt), ...times.map(({ from }) => from));
  const end = Math.max(Date.parse(call.lastSampleAt), ...times.map(({ until }) => until), start + 1_000);
  const shareOf = (ms: number): string => `${(ms / (end - start)) * 100}%`;
  const placeOf = (at: string): string => shareOf(Date.parse(at) - start);
  return (
    <section className="panel stack-small" aria-labelledby="lanes">
      <h2 id="lanes">{t('words.timeline')}</h2>
      <p className="muted">
        {withNodes('calls.fromFor', { start: <Time at={new Date(start).toISOString()} />, span: span(end - start) })}
      </p>
      <ul className="lanes" aria-label={t('words.participants')}>
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
                  aria-label={t('calls.wasConnected', {
                    name: participant.name,
                    span: span(lengthOf({ from, until }, end)),
                  })}
                  style={{ left: placeOf(from), width: shareOf(lengthOf({ from, until }, end)) }}
                />
              ))}
              <Marks participant={participant} placeOf={placeOf} />
            </span>
            <Layers
              participant={participant}
              styleOf={({ from, until }) => ({ left: shareOf(from - start), width: shareOf(until - from) })}
            />
          </li>
        ))}
      </ul>
      {layers.length > 0 && <p className="muted">{t('calls.layersNote')}</p>}
    </section>
  );
}

/** A strip for each picture that the participant received: the higher the bar, the higher the layer. */
function Layers({
  participant,
  styleOf,
}: {
  participant: CallParticipant;
  styleOf: (span: LayerSpan) => { left: string; width: string };
}) {
  return receivedLayersOf(participant).map(({ track, spans }) => {
    const times = timeByHeight(spans).map(([value, ms]) => t('calls.layerFor', { value, span: span(ms) }));
    const label = t('calls.receivedLayers', {
      name: participant.name,
      track: trackWords(track),
      layers: listOf(times),
    });
    return (
      <span key={track.id} className="lane-layers" role="img" aria-label={label} title={label}>
        {spans.map((one) => (
          <span key={one.from} className="lane-layer" data-layer={layerOf(one.height)} style={styleOf(one)} />
        ))}
      </span>
    );
  });
}

/** The usual heights of three simulcast layers. */
const layerOf = (height: number): 'high' | 'middle' | 'low' =>
  height >= 540 ? 'high' : height >= 270 ? 'middle' : 'low';

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
