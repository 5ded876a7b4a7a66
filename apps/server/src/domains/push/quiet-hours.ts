import type { QuietHours } from '@parley/contract';

const formats = new Map<string, Intl.DateTimeFormat>();

/** There are some hundred names; others never get here. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  formats.set(timeZone, made);
  return made;
}

export function isTimeZone(name: string): boolean {
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** From the first minute to the last before `until`, by the clock on the user's wall; equal times are the whole day. */
export function isQuiet({ from, until, timeZone }: QuietHours, atMs: number): boolean {
  const time = formatOf(timeZone).format(atMs);
  return from < until ? from <= time && time < until : from <= time || time < until;
}
