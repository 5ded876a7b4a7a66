import type { SampleBatch, TrackSamples } from './samples.ts';

/** Scores of single seconds, added up: the mean of many batches is their sums by their counts. */
export interface ScoreSums {
  soundSum: number;
  soundCount: number;
  pictureSum: number;
  pictureCount: number;
}

export const noScore: ScoreSums = { soundSum: 0, soundCount: 0, pictureSum: 0, pictureCount: 0 };

const between = (low: number, value: number, high: number): number => Math.min(high, Math.max(low, value));

/** The short form of the E-model (ITU-T G.107): 1 is unusable, 4.4 as good as it gets. */
export function mosOf({
  rttMs,
  jitterMs,
  lossPercent,
}: {
  rttMs: number;
  jitterMs: number;
  lossPercent: number;
}): number {
  // A jitter buffer of twice the jitter, and what coding takes.
  const latency = rttMs / 2 + jitterMs * 2 + 10;
  const delayed = 93.2 - (latency < 160 ? latency / 40 : (latency - 120) / 10);
  const r = Math.max(0, delayed - 2.5 * lossPercent);
  return between(1, 1 + 0.035 * r + 0.000007 * r * (r - 60) * (100 - r), 4.5);
}

/** A picture: from its height, less for what stood still and what stutters. */
export function pictureOf({
  height,
  freezeMs,
  everyMs,
  fps,
}: {
  height: number;
  freezeMs: number;
  everyMs: number;
  fps: number | null;
}): number {
  const sharp = height >= 720 ? 5 : height >= 360 ? 4.5 : height >= 180 ? 4 : 3;
  const still = between(0, freezeMs / everyMs, 1);
  const stutter = fps === null || fps >= 15 ? 0 : fps >= 8 ? 0.5 : 1.5;
  return between(1, sharp - 4 * still - stutter, 5);
}

/** What a participant heard and saw, and how their own sound went out: all that they would complain of. */
export function sumsOf({ everyMs, count, tracks }: SampleBatch): ScoreSums {
  const sums = { ...noScore };
  for (const track of tracks) {
    for (let at = 0; at < count; at++) {
      // Silent or muted: nothing to judge.
      if ((track.kbps[at] ?? 0) <= 0) continue;
      if (track.kind === 'audio') addSound(sums, track, at);
      else if (track.way === 'in') addPicture(sums, track, at, everyMs);
    }
  }
  return sums;
}

function addSound(sums: ScoreSums, { loss, rtt, jitter }: TrackSamples, at: number): void {
  const lossPercent = loss[at];
  if (lossPercent === null || lossPercent === undefined) return;
  sums.soundSum += mosOf({ rttMs: rtt[at] ?? 0, jitterMs: jitter[at] ?? 0, lossPercent });
  sums.soundCount++;
}

function addPicture(sums: ScoreSums, { height, freeze, fps }: TrackSamples, at: number, everyMs: number): void {
  const pixels = height[at];
  if (pixels === null || pixels === undefined) return;
  sums.pictureSum += pictureOf({ height: pixels, freezeMs: freeze[at] ?? 0, everyMs, fps: fps[at] ?? null });
  sums.pictureCount++;
}

const mean = (sum: number, count: number): number | null => (count === 0 ? null : sum / count);

export const soundOf = ({ soundSum, soundCount }: ScoreSums): number | null => mean(soundSum, soundCount);
export const pictureScoreOf = ({ pictureSum, pictureCount }: ScoreSums): number | null =>
  mean(pictureSum, pictureCount);

/** Of a participant: what is worse counts double, for nobody is consoled by the other. */
export function scoreOf(sums: ScoreSums): number | null {
  const [sound, picture] = [soundOf(sums), pictureScoreOf(sums)];
  if (sound === null || picture === null) return sound ?? picture;
  return (2 * Math.min(sound, picture) + Math.max(sound, picture)) / 3;
}
