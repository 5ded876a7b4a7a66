import type { CallFinding, CallParticipant, CallPoint, CallTrack } from '@parley/contract';

/** A rule names what it looks at, from where on it is wrong, and for how long it has to be. */
interface TrackRule {
  rule: string;
  because: string;
  appliesTo: (track: CallTrack) => boolean;
  valueOf: (point: CallPoint) => number | null;
  isBad: (value: number) => boolean;
  /** So many samples in a row. */
  samplesMin: number;
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
const ofWhom = (track: CallTrack): string => (track.of === null ? `a ${what(track)}` : `${track.of}'s ${what(track)}`);

export const trackRules: readonly TrackRule[] = [
  {
    rule: 'UPLINK_LOSS',
    because:
      'At least 5 % of the packets that a participant sent did not reach the media node, for 10 seconds or more.',
    appliesTo: ({ way }) => way === 'out',
    valueOf: ({ lossPercent }) => lossPercent,
    isBad: (value) => value >= 5,
    samplesMin: 2,
    say: ({ name, worst, during }) => `The uplink of ${name} lost up to ${whole(worst)} % ${during}.`,
  },
  {
    rule: 'DOWNLINK_LOSS',
    because: 'At least 5 % of the packets of a track did not reach a participant, for 10 seconds or more.',
    appliesTo: ({ way }) => way === 'in',
    valueOf: ({ lossPercent }) => lossPercent,
    isBad: (value) => value >= 5,
    samplesMin: 2,
    say: ({ name, worst, during }) => `The downlink of ${name} lost up to ${whole(worst)} % ${during}.`,
  },
  {
    rule: 'HIGH_ROUND_TRIP',
    because: 'The way to the media node and back took 400 ms or more, for 10 seconds or more.',
    appliesTo: ({ way }) => way === 'out',
    valueOf: ({ rttMs }) => rttMs,
    isBad: (value) => value >= 400,
    samplesMin: 2,
    say: ({ name, worst, during }) => `The round trip of ${name} was up to ${whole(worst)} ms ${during}.`,
  },
  {
    rule: 'JITTER',
    because: 'Packets of a sound came apart by 60 ms or more, for 10 seconds or more.',
    appliesTo: ({ kind, way }) => kind === 'audio' && way === 'in',
    valueOf: ({ jitterMs }) => jitterMs,
    isBad: (value) => value >= 60,
    samplesMin: 2,
    say: ({ name, worst, during }) => `Sound reached ${name} with up to ${whole(worst)} ms of jitter ${during}.`,
  },
  {
    rule: 'FREEZE',
    because: 'A picture that was received stood still for a second or more within 5 seconds.',
    appliesTo: ({ kind, way }) => kind === 'video' && way === 'in',
    valueOf: ({ freezeMs }) => freezeMs,
    isBad: (value) => value >= 1_000,
    samplesMin: 1,
    say: ({ name, sum, track, during }) => `${name} saw ${ofWhom(track)} stand still for ${seconds(sum)} ${during}.`,
  },
  {
    rule: 'LOW_FRAME_RATE',
    because: 'A picture that was received had fewer than 8 frames a second, for 10 seconds or more.',
    appliesTo: ({ kind, way, source }) => kind === 'video' && way === 'in' && source !== 'SCREEN_SHARE',
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
const stepRules: Readonly<
  Record<string, { rule: string; because: string; say: (name: string, at: string) => string }>
> = {
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
  values: number[];
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
      open = { from: at, until: at, values: [] };
      found.push(open);
    }
    open.until = at;
    open.values.push(value);
  }
  return found.filter(({ values }) => values.length >= samplesMin);
}

const clock = (at: string): string => at.slice(11, 19);
const during = ({ from, until }: Stretch): string =>
  from === until ? `at ${clock(from)}` : `from ${clock(from)} to ${clock(until)}`;

/** What was wrong with a call, as far as samples and steps show it; times in the sentences are UTC. */
export function diagnose(
  participants: readonly Pick<CallParticipant, 'name' | 'tracks' | 'bandwidth' | 'steps'>[],
  nodes: readonly { name: string; points: readonly { at: string; cpuPercent: number | null }[] }[],
): CallFinding[] {
  const findings = [...participants.flatMap(ofParticipant), ...nodes.flatMap(ofNode)];
  return findings.sort((a, b) => a.from.localeCompare(b.from) || a.rule.localeCompare(b.rule));
}

function ofParticipant({
  name,
  tracks,
  bandwidth,
  steps,
}: Pick<CallParticipant, 'name' | 'tracks' | 'bandwidth' | 'steps'>): CallFinding[] {
  const low = stretchesOf(
    bandwidth.map(({ at, kbps }) => ({ at, value: kbps })),
    bandwidthRule.isBad,
    bandwidthRule.samplesMin,
  );
  return [
    ...onePerPath(tracks.flatMap((track) => trackRules.flatMap((rule) => ofTrack(name, track, rule)))),
    ...low.map((stretch) => ({
      ...bounds(stretch, bandwidthRule, name, null),
      sentence: `${name} could send less than ${whole(Math.max(...stretch.values))} kbit/s ${during(stretch)}.`,
    })),
    ...steps.flatMap(({ at, type, trackId }) => {
      const rule = stepRules[type];
      if (!rule) return [];
      const { rule: named, because, say } = rule;
      const sentence = say(name, clock(at));
      return [{ rule: named, because, participant: name, trackId, from: at, until: at, sentence }];
    }),
  ];
}

function ofTrack(name: string, track: CallTrack, rule: TrackRule): CallFinding[] {
  if (!rule.appliesTo(track)) return [];
  const samples = track.points.map((point) => ({ at: point.at, value: rule.valueOf(point) }));
  return stretchesOf(samples, rule.isBad, rule.samplesMin).map((stretch) => {
    const { values } = stretch;
    const told = { name, track, worst: Math.max(...values), sum: values.reduce((sum, one) => sum + one, 0) };
    return { ...bounds(stretch, rule, name, track.id), sentence: rule.say({ ...told, during: during(stretch) }) };
  });
}

const ofPath: readonly string[] = ['UPLINK_LOSS', 'DOWNLINK_LOSS', 'HIGH_ROUND_TRIP', 'JITTER'];

/** Tracks share their path: what is said of it by several of them at one time is said once, by the longest. */
function onePerPath(findings: readonly CallFinding[]): CallFinding[] {
  const lengthOf = ({ from, until }: CallFinding): number => Date.parse(until) - Date.parse(from);
  const kept: CallFinding[] = [];
  for (const finding of findings.toSorted((a, b) => lengthOf(b) - lengthOf(a))) {
    const isSaid = kept.some(
      (one) => one.rule === finding.rule && one.from <= finding.until && finding.from <= one.until,
    );
    if (!ofPath.includes(finding.rule) || !isSaid) kept.push(finding);
  }
  return kept;
}

function ofNode({ name, points }: { name: string; points: readonly { at: string; cpuPercent: number | null }[] }) {
  const samples = points.map(({ at, cpuPercent }) => ({ at, value: cpuPercent }));
  return stretchesOf(samples, nodeRule.isBad, nodeRule.samplesMin).map((stretch) => ({
    ...bounds(stretch, nodeRule, null, null),
    sentence: `The media node ${name} was at up to ${whole(Math.max(...stretch.values))} % CPU ${during(stretch)}.`,
  }));
}

const bounds = (
  { from, until }: Stretch,
  { rule, because }: { rule: string; because: string },
  participant: string | null,
  trackId: string | null,
) => ({ rule, because, participant, trackId, from, until });
