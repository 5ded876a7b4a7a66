import type { MediaQuality, MediaTransportStats } from '@parley/contract/media-control';

/** 0-100 from the worse of both directions: loss weighs most, then round trip and jitter. */
export function scoreOf(
  stats: readonly (MediaTransportStats | null)[],
): { quality: MediaQuality; score: number } | null {
  const known = stats.filter((one) => one !== null);
  if (known.length === 0) return null;
  if (known.some(({ state }) => state === 'DISCONNECTED' || state === 'FAILED')) return { quality: 'LOST', score: 0 };
  if (!known.some(({ state }) => state === 'CONNECTED')) return null;
  const scores = known.map(({ packetLossPercent, rttMs, jitterMs }) => {
    const loss = (packetLossPercent ?? 0) * 5;
    const delay = Math.max(0, (rttMs ?? 0) - 150) / 10;
    const jitter = Math.max(0, (jitterMs ?? 0) - 40) / 4;
    return Math.max(1, Math.round(100 - loss - delay - jitter));
  });
  const score = Math.min(...scores);
  return { quality: score >= 85 ? 'EXCELLENT' : score >= 60 ? 'GOOD' : 'POOR', score };
}
