const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 });

export const count = (value: number): string => whole.format(value);
export const decimal = (value: number): string => short.format(value);

/** A share between 0 and 1. */
export const percent = (share: number): string => `${short.format(share * 100)} %`;

const steps = [
  [1e9, 'Gbit/s'],
  [1e6, 'Mbit/s'],
  [1e3, 'kbit/s'],
] as const;

export function bitRate(bitsPerSecond: number): string {
  for (const [size, unit] of steps) if (bitsPerSecond >= size) return `${short.format(bitsPerSecond / size)} ${unit}`;
  return `${whole.format(bitsPerSecond)} bit/s`;
}

/** `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`. */
export function span(ms: number): string {
  if (ms < 1_000) return `${whole.format(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${short.format(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** One thing, several things. */
export const plural = (amount: number, one: string, many = `${one}s`): string =>
  `${count(amount)} ${amount === 1 ? one : many}`;
