import { t } from './texts.ts';

/** An origin as browsers write it, or null when the text is something else. The service decides; this answers while typing. */
export function originOf(text: string): string | null {
  if (!/^https?:\/\/[^/?#@\s]+\/?$/i.test(text) || !URL.canParse(text)) return null;
  const { origin, hostname } = new URL(text);
  return hostname === '' ? null : origin;
}

interface ReadOrigins {
  origins: string[];
  /** The first line that is not an origin. */
  problem: string | undefined;
}

/** One origin a line; blanks dropped, duplicates merged. */
export function readOrigins(text: string): ReadOrigins {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const wrong = lines.find((line) => originOf(line) === null);
  return {
    origins: [...new Set(lines.flatMap((line) => originOf(line) ?? []))],
    problem: wrong === undefined ? undefined : t('projects.lineIsNoOrigin', { line: wrong }),
  };
}

const localHosts = ['localhost', '127.0.0.1', '[::1]'];

/** Whether a browser on this origin may use a project with these settings. */
export function isAllowed(origin: string, allowed: readonly string[], allowLocalhost: boolean): boolean {
  if (allowed.length === 0 || allowed.includes(origin)) return true;
  return allowLocalhost && localHosts.includes(new URL(origin).hostname);
}
