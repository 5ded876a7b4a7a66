import { useEffect, useState } from 'react';
import { usePreferences } from '../frame/preferences.ts';
import { perLanguage } from '../i18n/language.ts';
import { t } from '../i18n/t.ts';

/** The present, again every second, for what counts up or down on the page. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

const shape: Intl.DateTimeFormatOptions = {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
};
const local = perLanguage((locale) => new Intl.DateTimeFormat(locale, shape));
const utc = perLanguage((locale) => new Intl.DateTimeFormat(locale, { ...shape, timeZone: 'UTC' }));

export const inUtc = (at: string): string => `${utc().format(new Date(at))} UTC`;

/** A moment in the person's own time zone, or in UTC where they chose it; the tooltip has the other one. */
export function Time({ at }: { at: string }) {
  const { timeZone } = usePreferences();
  const date = new Date(at);
  const [shown, other] =
    timeZone === 'utc'
      ? [inUtc(at), t('kit.localTime', { time: local().format(date) })]
      : [local().format(date), inUtc(at)];
  return (
    <time dateTime={at} title={other}>
      {shown}
    </time>
  );
}

const units = [
  [86_400, 'kit.days'],
  [3_600, 'kit.hours'],
  [60, 'kit.minutes'],
] as const;

/** `3 d`, `2 h`, `5 min`, `12 s`. */
export function duration(seconds: number): string {
  for (const [size, unit] of units) if (seconds >= size) return t(unit, { value: Math.floor(seconds / size) });
  return t('kit.seconds', { value: Math.max(0, Math.floor(seconds)) });
}

/** How long ago; the tooltip has the moment itself. */
export function Ago({ at }: { at: string }) {
  const now = useNow();
  const seconds = (now - new Date(at).getTime()) / 1000;
  return (
    <time dateTime={at} title={inUtc(at)}>
      {seconds < 1 ? t('kit.justNow') : t('kit.ago', { duration: duration(seconds) })}
    </time>
  );
}
