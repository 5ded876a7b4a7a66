import type { CallFinding, CallParticipant, CallPoint, CallStep, CallTrack } from '@parley/contract';

/** A rule names what it looks at, from where on it is wrong, and for how long it has to be. */
interface TrackRule {
  rule: string;
  because: string;
  appliesTo: (track: CallTrack) => boolean;
  valueOf: (point: CallPoint) => number | null;
  isBad: (value: number) => boolean;
  /** So many samples in a row. */
  samplesMin: number;
  /** Said of the path, which every track of the participant shares. */
  isOfPath?: true;
  say: (told: Told) => string;
}

interface Told {
  name: string;
  track: CallTrack;
  worst: number;
  sum: number;
  during: string;
}

const whole = (value: number): string => String(Math.round(value));
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1).replace(/\.0$/, '')} s`;
const what = ({ kind, source }: CallTrack): string =>
  source?.toLowerCase().replaceAll('_', ' ') ?? (kind === 'audio' ? 'sound' : 'picture');
const ofWhom = (track: CallTrack): string =>
  track.publisher === null ? `a ${what(track)}` : `${track.publisher}'s ${what(track)}`;

const trackRules: readonly TrackRule[] = [
  {
    rule: 'UPLINK_LOSS',
    because:
      'At least 5 % of the packets that a participant sent did not reach the media node, for 10 seconds or more.',
    appliesTo: ({ direction }) => direction === 'out',
    valueOf: ({ lossPercent }) => lossPercent,
    isBad: (value) => value >= 5,
    samplesMin: 2,
    isOfPath: true,
    say: ({ name, worst, during }) => `The uplink of ${name} lost up to ${whole(worst)} % ${during}.`,
  },
  {
    rule: 'DOWNLINK_LOSS',
    because: 'At least 5 % of the packets of a track did not reach a participant, for 10 seconds or more.',
    appliesTo: ({ direction }) => direction === 'in',
    valueOf: ({ lossPercent }) => lossPercent,
    isBad: (value) => value >= 5,
    samplesMin: 2,
    isOfPath: true,
    say: ({ name, worst, during }) => `The downlink of ${name} lost up to ${whole(worst)} % ${during}.`,
  },
  {
    rule: 'HIGH_ROUND_TRIP',
    because: 'The way to the media node and back took 400 ms or more, for 10 seconds or more.',
    appliesTo: ({ direction }) => direction === 'out',
    valueOf: ({ rttMs }) => rttMs,
    isBad: (value) => value >= 400,
    samplesMin: 2,
    isOfPath: true,
    say: ({ name, worst, during }) => `The round trip of ${name} was up to ${whole(worst)} ms ${during}.`,
  },
  {
    rule: 'JITTER',
    because: 'Packets of a sound came apart by 60 ms or more, for 10 seconds or more.',
    appliesTo: ({ kind, direction }) => kind === 'audio' && direction === 'in',
    valueOf: ({ jitterMs }) => jitterMs,
    isBad: (value) => value >= 60,
    samplesMin: 2,
    isOfPath: true,
    say: ({ name, worst, during }) => `Sound reached ${name} with up to ${whole(worst)} ms of jitter ${during}.`,
  },
  {
    rule: 'FREEZE',
    because: 'A picture that was received stood still for a second or more within 5 seconds.',
    appliesTo: ({ kind, direction }) => kind === 'video' && direction === 'in',
    valueOf: ({ freezeMs }) => freezeMs,
    isBad: (value) => value >= 1_000,
    samplesMin: 1,
    say: ({ name, sum, track, during }) => `${name} saw ${ofWhom(track)} stand still for ${seconds(sum)} ${during}.`,
  },
  {
    rule: 'LOW_FRAME_RATE',
    because: 'A picture that was received had fewer than 8 frames a second, for 10 seconds or more.',
    appliesTo: ({ kind, direction, source }) => kind === 'video' && direction === 'in' && source !== 'SCREEN_SHARE',
    valueOf: ({ fps, kbps }) => ((kbps ?? 0) > 0 ? fps : null),
    isBad: (value) => value < 8,
    samplesMin: 2,
    say: ({ name, track, during }) => `${name} saw ${ofWhom(track)} with fewer than 8 frames a second ${during}.`,
  },
];

const nodeRule = {
  rule: 'NODE_CPU',
  because: 'The media node used 90 % of its CPU or more, for 10 seconds or more.',
  isBad: (value: number): boolean => value >= 90,
  samplesMin: 2,
};
const bandwidthRule = {
  rule: 'LOW_BANDWIDTH',
  because: 'The browser believed that it could send less than 150 kbit/s, for 10 seconds or more.',
  isBad: (value: number): boolean => value < 150,
  samplesMin: 2,
};
interface StepRule {
  rule: string;
  because: string;
  say: (name: string, at: string) => string;
}

const stepRules: Readonly<Record<string, StepRule>> = {
  'signaling.reconnected': {
    rule: 'RECONNECTED',
    because: 'The connection was lost and came back.',
    say: (name, at) => `${name} was cut off and came back at ${at}.`,
  },
  'ice.failed': {
    rule: 'NO_PATH',
    because: 'No network path to the media node worked.',
    say: (name, at) => `${name} had no path to the media node at ${at}.`,
  },
  'join.failed': {
    rule: 'JOIN_FAILED',
    because: 'A join did not succeed.',
    say: (name, at) => `${name} could not join at ${at}.`,
  },
  'track.publish_failed': {
    rule: 'PUBLISH_FAILED',
    because: 'A track could not be published.',
    say: (name, at) => `${name} could not publish a track at ${at}.`,
  },
};

interface Sampled {
  at: string;
  value: number | null;
}

interface Stretch {
  from: string;
  until: string;
  count: number;
  highest: number;
  sum: number;
}

/** Every stretch of samples in a row that are bad; one unknown sample in between does not end it. */
export function stretchesOf(
  samples: readonly Sampled[],
  isBad: (value: number) => boolean,
  samplesMin: number,
): Stretch[] {
  const found: Stretch[] = [];
  let open: Stretch | null = null;
  let unknown = 0;
  for (const { at, value } of samples) {
    if (value === null) {
      unknown++;
      if (unknown > 1) open = null;
      continue;
    }
    unknown = 0;
    if (!isBad(value)) {
      open = null;
      continue;
    }
    if (open === null) {
      open = { from: at, until: at, count: 0, highest: value, sum: 0 };
      found.push(open);
    }
    open.until = at;
    open.count++;
    open.highest = Math.max(open.highest, value);
    open.sum += value;
  }
  return found.filter(({ count }) => count >= samplesMin);
}

const clock = (at: string): string => at.slice(11, 19);
const during = ({ from, until }: Stretch): string =>
  from === until ? `at ${clock(from)}` : `from ${clock(from)} to ${clock(until)}`;

/** A finding whose sentence is not said yet: who published a track is known only when everybody was looked at. */
export interface Draft extends Omit<CallFinding, 'sentence'> {
  say: () => string;
}

type Observed = Pick<CallParticipant, 'name' | 'tracks' | 'bandwidth' | 'steps'>;
type ObservedNode = { name: string; points: readonly { at: string; cpuPercent: number | null }[] };

/** More of one kind tell nothing new; the longest are kept. */
const perRuleMax = 20;

/** What was wrong with a call, as far as samples and steps show it; times in the sentences are UTC. */
export const diagnose = (participants: readonly Observed[], nodes: readonly ObservedNode[]): CallFinding[] =>
  findingsOf([...participants.flatMap(draftsOf), ...nodes.flatMap(draftsOfNode)]);

/** In the order of time. */
export const findingsOf = (drafts: readonly Draft[]): CallFinding[] =>
  drafts
    .toSorted((a, b) => compare(a.from, b.from) || compare(a.rule, b.rule))
    .map(({ say, ...draft }) => ({ ...draft, sentence: say() }));

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What was wrong with one participant. */
export function draftsOf({ name, tracks, bandwidth, steps }: Observed): Draft[] {
  const low = stretchesOf(
    bandwidth.map(({ at, kbps }) => ({ at, value: kbps })),
    bandwidthRule.isBad,
    bandwidthRule.samplesMin,
  );
  // What the node counted beside it is of the same paths.
  const measured = tracks.filter(({ measuredBy }) => measuredBy === 'client');
  return [
    ...trackRules.flatMap((rule) => ofTracks(name, measured, rule)),
    ...longest(
      low.map((stretch) => ({
        ...bounds(stretch, bandwidthRule, name, null),
        say: () => `${name} could send at most ${whole(stretch.highest)} kbit/s ${during(stretch)}.`,
      })),
    ),
    ...Object.entries(stepRules).flatMap(([type, rule]) =>
      steps
        .filter((step) => step.type === type)
        .slice(0, perRuleMax)
        .map((step) => ofStep(name, step, rule)),
    ),
  ];
}

const ofStep = (name: string, { at, trackId }: CallStep, { rule, because, say }: StepRule): Draft => ({
  rule,
  because,
  participant: name,
  trackId,
  from: at,
  until: at,
  say: () => say(name, clock(at)),
});

function ofTracks(name: string, tracks: readonly CallTrack[], rule: TrackRule): Draft[] {
  const found = tracks.filter(rule.appliesTo).flatMap((track) => ofTrack(name, track, rule));
  return longest(rule.isOfPath ? onePerPath(found) : found);
}

function ofTrack(name: string, track: CallTrack, rule: TrackRule): Draft[] {
  const samples = track.points.map((point) => ({ at: point.at, value: rule.valueOf(point) }));
  return stretchesOf(samples, rule.isBad, rule.samplesMin).map((stretch) => {
    const told = { name, track, worst: stretch.highest, sum: stretch.sum, during: during(stretch) };
    return { ...bounds(stretch, rule, name, track.id), say: () => rule.say(told) };
  });
}

const lengthOf = ({ from, until }: Draft): number => Date.parse(until) - Date.parse(from);

const longest = (drafts: Draft[]): Draft[] =>
  drafts.length <= perRuleMax ? drafts : drafts.toSorted((a, b) => lengthOf(b) - lengthOf(a)).slice(0, perRuleMax);

/** Tracks share their path: what several of them say of it at one time is said once, by the longest. */
function onePerPath(drafts: readonly Draft[]): Draft[] {
  const kept: Draft[] = [];
  for (const draft of drafts.toSorted((a, b) => compare(a.from, b.from))) {
    const last = kept.at(-1);
    if (last === undefined || draft.from > last.until) kept.push(draft);
    else if (lengthOf(draft) > lengthOf(last)) kept[kept.length - 1] = draft;
  }
  return kept;
}

export function draftsOfNode({ name, points }: ObservedNode): Draft[] {
  const samples = points.map(({ at, cpuPercent }) => ({ at, value: cpuPercent }));
  const busy = stretchesOf(samples, nodeRule.isBad, nodeRule.samplesMin).map((stretch) => ({
    ...bounds(stretch, nodeRule, null, null),
    say: () => `The media node ${name} was at up to ${whole(stretch.highest)} % CPU ${during(stretch)}.`,
  }));
  return longest(busy);
}

const bounds = (
  { from, until }: Stretch,
  { rule, because }: { rule: string; because: string },
  participant: string | null,
  trackId: string | null,
) => ({ rule, because, participant, trackId, from, until });
