import { type Finding, fail, ok } from './finding.ts';

/** Tokens live for minutes and signatures for five: a clock that is off by more than this refuses good ones. */
const skewMsMax = 5_000;

/** `skewMs`: how far the other clock is ahead of ours. */
export const clockFinding = (who: string, skewMs: number): Finding =>
  Math.abs(skewMs) <= skewMsMax
    ? ok('clock', `The clock agrees with ${who} (${Math.round(Math.abs(skewMs))} ms apart).`)
    : fail(
        'clock',
        `This clock is ${(Math.abs(skewMs) / 1000).toFixed(0)} s ${skewMs > 0 ? 'behind' : 'ahead of'} ${who}.`,
        'Let NTP set the clocks of all machines: tokens and webhook signatures depend on them.',
      );

/** What a `Date` header says, which is exact to a second; null when it says nothing. */
export function timeOf(date: string | null | undefined): number | null {
  const time = Date.parse(date ?? '');
  return Number.isNaN(time) ? null : time + 500;
}

/** The time that an address answers with. */
export async function remoteTime(url: string): Promise<number | null> {
  try {
    const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2_000) });
    return timeOf(answer.headers.get('date'));
  } catch {
    return null;
  }
}
