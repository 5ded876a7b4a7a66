import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CallDetail, CallParticipant, CallPoint, CallTrack } from '@parley/contract';
import { iso } from '../../../core/clock.ts';
import { orderTimeline } from '../timeline.ts';
import type { CallRow, listSamples, listSteps, StayRow } from './call-store.ts';
import { type Draft, draftsOf, draftsOfNode, findingsOf } from './diagnosis.ts';
import { namelessOf, trackSourceOf } from './nameless.ts';
import { type MeasuredBy, type SampleBatch, type TrackSamples, unpack } from './samples.ts';
import { noScore, pictureScoreOf, type ScoreSums, scoreOf, soundOf } from './scoring.ts';

type StoredSamples = Awaited<ReturnType<typeof listSamples>>;

/** Everything that is stored of a call. */
export interface CallRecords {
  call: CallRow;
  stays: readonly StayRow[];
  steps: Awaited<ReturnType<typeof listSteps>>;
  nodes: CallDetail['nodes'];
  /** Of one participant at a time: those of everybody may be more than we want to hold. */
  readSamples: (connections: readonly string[]) => Promise<StoredSamples>;
}

/** More are drawn by nobody; of several the worst value stands for all. */
const pointsMax = 120;
/** Of a participant, as its client and the node measured them; a browser has fewer. */
const tracksMax = 64;
/** Batches that are read before others get their turn. */
const batchesPerTurn = 100;

/** The call as it is shown. `withoutNames`: whatever could name somebody is numbered or left out. */
export async function detailOf(records: CallRecords, { withoutNames }: { withoutNames: boolean }): Promise<CallDetail> {
  const { call, stays } = records;
  const identities = [...new Set(stays.map(({ identity }) => identity))];
  const names = new Map(identities.map((one, at) => [one, withoutNames ? `Participant ${at + 1}` : one]));
  const nodes = records.nodes.map((node, at) => (withoutNames ? { ...node, name: `Node ${at + 1}` } : node));
  const published = publishedTracks(records, names);
  const participants: CallParticipant[] = [];
  const drafts: Draft[] = nodes.flatMap(draftsOfNode);
  for (const [identity, name] of names) {
    const participant = await participantOf(records, identity, name, published);
    drafts.push(...draftsOf(participant));
    thinOut(participant);
    participants.push(participant);
    await nextTurn();
  }
  nameSenders(participants);
  const detail = {
    ...call,
    findings: findingsOf(drafts),
    participants,
    nodes: nodes.map(({ name, points }) => ({ name, points: buckets(points).map(busiest) })),
  };
  return withoutNames ? namelessOf(detail) : detail;
}

type Published = ReadonlyMap<string, { publisher: string; source: string | null }>;

/** As the server saw it: a client could claim the track of another. */
function publishedTracks({ stays, steps }: CallRecords, names: ReadonlyMap<string, string>): Published {
  const byConnection = new Map(stays.map(({ id, identity }) => [id, names.get(identity)]));
  return new Map(
    steps.flatMap(({ connection, type, source: seenBy, data }) => {
      const [publisher, id] = [byConnection.get(connection), text(data['trackId'])];
      if (type !== 'track.published' || seenBy !== 'SERVER' || publisher === undefined || id === null) return [];
      return [[id, { publisher, source: trackSourceOf(data['source']) }] as const];
    }),
  );
}

/** A participant that has samples of sending a track published it, also where the step that says so is gone. */
function nameSenders(participants: readonly CallParticipant[]): void {
  const senders = new Map(
    participants.flatMap(({ name, tracks }) =>
      tracks.filter(({ direction }) => direction === 'out').map(({ id }) => [id, name] as const),
    ),
  );
  for (const { tracks } of participants) for (const track of tracks) track.publisher ??= senders.get(track.id) ?? null;
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

async function participantOf(
  records: CallRecords,
  identity: string,
  name: string,
  published: Published,
): Promise<CallParticipant> {
  const stays = records.stays.filter((stay) => stay.identity === identity);
  const sums = stays.reduce(addSums, noScore);
  const steps = stays.flatMap(({ id }) => orderTimeline(records.steps.filter(({ connection }) => connection === id)));
  const measured = await measuredOf(await records.readSamples(stays.map(({ id }) => id)), published);
  return {
    name,
    score: scoreOf(sums),
    audioMos: soundOf(sums),
    videoScore: pictureScoreOf(sums),
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
    ...measured,
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

type Measured = Pick<CallParticipant, 'tracks' | 'bandwidth'>;

async function measuredOf(samples: StoredSamples, published: Published): Promise<Measured> {
  const tracks = new Map<string, CallTrack>();
  const bandwidth: Measured['bandwidth'] = [];
  const stored = samples.map(({ at, packed }) => ({ packed, lastMs: Date.parse(at) }));
  for (const [index, { packed, lastMs }] of stored.sort((a, b) => a.lastMs - b.lastMs).entries()) {
    if (index % batchesPerTurn === batchesPerTurn - 1) await nextTurn();
    const batch = unpack(packed);
    const times = Array.from({ length: batch.count }, (_, at) => timeOf(batch, lastMs, at));
    const { measuredBy } = batch;
    if (measuredBy === 'client')
      for (const [at, time] of times.entries()) bandwidth.push({ at: time, kbps: batch.bandwidth[at] ?? null });
    for (const track of batch.tracks) addPoints(tracks, { ...track, measuredBy }, times, published);
  }
  return { tracks: [...tracks.values()], bandwidth };
}

function addPoints(
  tracks: Map<string, CallTrack>,
  samples: TrackSamples & { measuredBy: MeasuredBy },
  times: readonly string[],
  published: Published,
): void {
  const { id, way: direction, kind, measuredBy } = samples;
  const key = `${measuredBy}/${direction}/${id}`;
  const known = tracks.get(key);
  if (known === undefined && tracks.size >= tracksMax) return;
  const unknown = { publisher: null, source: null };
  const track = known ?? { id, direction, kind, measuredBy, ...unknown, ...published.get(id), points: [] };
  tracks.set(key, track);
  for (const [at, time] of times.entries()) track.points.push(pointOf(samples, at, time));
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

/** Leaves of everything as much as is drawn. */
function thinOut(participant: CallParticipant): void {
  for (const track of participant.tracks) track.points = buckets(track.points).map(worst);
  participant.bandwidth = buckets(participant.bandwidth).map(narrowest);
}

/** At most so many, each with those that fall together. */
function buckets<T>(points: readonly T[]): [T, ...T[]][] {
  const each = Math.max(1, Math.ceil(points.length / pointsMax));
  return Array.from({ length: Math.ceil(points.length / each) }, (_, at) =>
    points.slice(at * each, (at + 1) * each),
  ).filter((bucket): bucket is [T, ...T[]] => bucket.length > 0);
}

type Points<T> = readonly [T, ...T[]];

/** Of one measure; null where none of them knows it. */
function over<T>(points: readonly T[], measure: (point: T) => number | null, pick: (a: number, b: number) => number) {
  const values = points.flatMap((point) => measure(point) ?? []);
  return values.length === 0 ? null : values.reduce((a, b) => pick(a, b));
}

const worst = (points: Points<CallPoint>): CallPoint => ({
  at: points[0].at,
  kbps: over(points, ({ kbps }) => kbps, Math.min),
  lossPercent: over(points, ({ lossPercent }) => lossPercent, Math.max),
  rttMs: over(points, ({ rttMs }) => rttMs, Math.max),
  jitterMs: over(points, ({ jitterMs }) => jitterMs, Math.max),
  fps: over(points, ({ fps }) => fps, Math.min),
  freezeMs: over(points, ({ freezeMs }) => freezeMs, Math.max),
  height: over(points, ({ height }) => height, Math.min),
});

const narrowest = (points: Points<Measured['bandwidth'][number]>) => ({
  at: points[0].at,
  kbps: over(points, ({ kbps }) => kbps, Math.min),
});

const busiest = (points: Points<CallDetail['nodes'][number]['points'][number]>) => ({
  at: points[0].at,
  cpuPercent: over(points, ({ cpuPercent }) => cpuPercent, Math.max),
});
