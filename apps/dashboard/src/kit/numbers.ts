import { perLanguage } from '../i18n/language.ts';
import { t } from '../i18n/t.ts';

const whole = perLanguage((locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 0 }));
const short = perLanguage((locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }));

export const count = (value: number): string => whole().format(value);
export const decimal = (value: number): string => short().format(value);

/** A share between 0 and 1. */
export const percent = (share: number): string => t('kit.percent', { value: short().format(share * 100) });

const steps = [
  [1e9, 'Gbit/s'],
  [1e6, 'Mbit/s'],
  [1e3, 'kbit/s'],
] as const;

export function bitRate(bitsPerSecond: number): string {
  for (const [size, unit] of steps) if (bitsPerSecond >= size) return `${short().format(bitsPerSecond / size)} ${unit}`;
  return `${whole().format(bitsPerSecond)} bit/s`;
}

const sizes = [
  [1e12, 'TB'],
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'kB'],
] as const;

export function byteSize(bytes: number): string {
  for (const [size, unit] of sizes) if (bytes >= size) return `${short().format(bytes / size)} ${unit}`;
  return `${whole().format(bytes)} B`;
}

/** A decimal text: shown without the zeros at its end, but for cents. */
export const money = (amount: string, currency: string): string =>
  `${amount.replace(/(\.\d\d\d*?)0+$/, '$1')} ${currency}`;

/** `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`. */
export function span(ms: number): string {
  if (ms < 1_000) return t('kit.ms', { value: whole().format(ms) });
  const seconds = ms / 1_000;
  if (seconds < 60) return t('kit.seconds', { value: short().format(seconds) });
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return t('kit.minutesSeconds', { minutes, seconds: Math.floor(seconds % 60) });
  return t('kit.hoursMinutes', { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}
