import type { CallDetail, CallParticipant, CallPoint, CallTrack } from '@parley/contract';
import { iso } from '../../../core/clock.ts';
import { orderTimeline } from '../timeline.ts';
import type { CallRow, listSamples, listSteps, StayRow } from './call-store.ts';
import { diagnose } from './diagnosis.ts';
import { type SampleBatch, type TrackSamples, unpack } from './samples.ts';
import { noScore, pictureScoreOf, type ScoreSums, scoreOf, soundOf } from './scoring.ts';

/** Everything that is stored of a call. */
export interface CallRecords {
  call: CallRow;
  stays: readonly StayRow[];
  samples: Awaited<ReturnType<typeof listSamples>>;
  steps: Awaited<ReturnType<typeof listSteps>>;
  nodes: CallDetail['nodes'];
}

/** More are drawn by nobody; of several the worst value stands for all. */
const pointsMax = 120;

/** The call as it is shown. `withoutNames`: participants are numbered, and the room has no name. */
export function detailOf(records: CallRecords, { withoutNames }: { withoutNames: boolean }): CallDetail {
  const { call, stays, nodes } = records;
  const identities = [...new Set(stays.map(({ identity }) => identity))];
  const nameOf = (identity: string): string =>
    withoutNames ? `Participant ${identities.indexOf(identity) + 1}` : identity;
  const tracks = publishedTracks(records, nameOf);
  const participants = withSenders(
    identities.map((identity) => participantOf(records, identity, nameOf(identity), tracks)),
  );
  return {
    ...call,
    roomName: withoutNames ? null : call.roomName,
    findings: diagnose(participants, nodes),
    participants: participants.map((one) => ({
      ...one,
      tracks: one.tracks.map((track) => ({ ...track, points: thin(track.points) })),
    })),
    nodes,
  };
}

type Published = ReadonlyMap<string, { of: string; source: string | null }>;

function publishedTracks({ stays, steps }: CallRecords, nameOf: (identity: string) => string): Published {
  const byConnection = new Map(stays.map(({ id, identity }) => [id, nameOf(identity)]));
  return new Map(
    steps.flatMap(({ connection, type, data }) => {
      const [of, id] = [byConnection.get(connection), text(data['trackId'])];
      if (type !== 'track.published' || of === undefined || id === null) return [];
      return [[id, { of, source: text(data['source']) }] as const];
    }),
  );
}

/** Whoever has samples of sending a track published it, also where the step that says so is gone. */
function withSenders(participants: readonly CallParticipant[]): CallParticipant[] {
  const senders = new Map(
    participants.flatMap(({ name, tracks }) =>
      tracks.filter(({ way }) => way === 'out').map(({ id }) => [id, name] as const),
    ),
  );
  return participants.map((one) => ({
    ...one,
    tracks: one.tracks.map((track) => ({ ...track, of: track.of ?? senders.get(track.id) ?? null })),
  }));
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function participantOf(records: CallRecords, identity: string, name: string, published: Published): CallParticipant {
  const stays = records.stays.filter((stay) => stay.identity === identity);
  const ids = new Set(stays.map(({ id }) => id));
  const sums = stays.reduce(addSums, noScore);
  const steps = stays.flatMap(({ id }) => orderTimeline(records.steps.filter(({ connection }) => connection === id)));
  const batches = records.samples
    .filter(({ connection }) => ids.has(connection))
    .map(({ at, packed }) => ({ batch: unpack(packed), lastMs: Date.parse(at) }))
    .sort((a, b) => a.lastMs - b.lastMs);
  return {
    name,
    score: scoreOf(sums),
    mos: soundOf(sums),
    picture: pictureScoreOf(sums),
    stays: stays.map(({ connectionId, state, startedAt, endedAt, transport }) => ({
      connectionId,
      state,
      from: startedAt,
      until: endedAt,
      transport,
    })),
    steps: steps.map(({ happenedAt, type, source, data }) => ({
      at: happenedAt,
      type,
      source,
      trackId: text(data['trackId']),
      detail: text(data['code']) ?? text(data['reason']) ?? text(data['source']),
    })),
    tracks: tracksOf(batches, published),
    bandwidth: batches.flatMap(({ batch, lastMs }) =>
      batch.bandwidth.map((kbps, index) => ({ at: timeOf(batch, lastMs, index), kbps })),
    ),
  };
}

const addSums = (a: ScoreSums, b: ScoreSums): ScoreSums => ({
  soundSum: a.soundSum + b.soundSum,
  soundCount: a.soundCount + b.soundCount,
  pictureSum: a.pictureSum + b.pictureSum,
  pictureCount: a.pictureCount + b.pictureCount,
});

/** The last sample was taken just before the batch came; the others at their distance before it. By our clock. */
const timeOf = ({ everyMs, count }: SampleBatch, lastMs: number, index: number): string =>
  iso(lastMs - (count - 1 - index) * everyMs);

function tracksOf(batches: readonly { batch: SampleBatch; lastMs: number }[], published: Published): CallTrack[] {
  const tracks = new Map<string, CallTrack>();
  for (const { batch, lastMs } of batches) {
    for (const samples of batch.tracks) {
      const { id, way, kind } = samples;
      const { of = null, source = null } = published.get(id) ?? {};
      const track = tracks.get(`${way}/${id}`) ?? { id, way, kind, of, source, points: [] };
      tracks.set(`${way}/${id}`, track);
      for (let at = 0; at < batch.count; at++) track.points.push(pointOf(samples, at, timeOf(batch, lastMs, at)));
    }
  }
  return [...tracks.values()];
}

const pointOf = (
  { kbps, loss, rtt, jitter, fps, freeze, height }: TrackSamples,
  index: number,
  at: string,
): CallPoint => ({
  at,
  kbps: kbps[index] ?? null,
  lossPercent: loss[index] ?? null,
  rttMs: rtt[index] ?? null,
  jitterMs: jitter[index] ?? null,
  fps: fps[index] ?? null,
  freezeMs: freeze[index] ?? null,
  height: height[index] ?? null,
});

/** At most so many points: of those that fall together the worst. */
export function thin(points: readonly CallPoint[]): CallPoint[] {
  const each = Math.ceil(points.length / pointsMax);
  if (each <= 1) return [...points];
  return Array.from({ length: Math.ceil(points.length / each) }, (_, at) =>
    worst(points.slice(at * each, (at + 1) * each)),
  );
}

function worst(points: readonly CallPoint[]): CallPoint {
  const over = (name: keyof Omit<CallPoint, 'at'>, pick: (...values: number[]) => number): number | null => {
    const values = points.flatMap((point) => point[name] ?? []);
    return values.length === 0 ? null : pick(...values);
  };
  return {
    at: points[0]?.at ?? '',
    kbps: over('kbps', Math.min),
    lossPercent: over('lossPercent', Math.max),
    rttMs: over('rttMs', Math.max),
    jitterMs: over('jitterMs', Math.max),
    fps: over('fps', Math.min),
    freezeMs: over('freezeMs', Math.max),
    height: over('height', Math.min),
  };
}
