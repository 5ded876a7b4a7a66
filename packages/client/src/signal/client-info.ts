import { VERSION } from '../version.ts';

/** Who connects, for the connection's page in the dashboard. Nothing here tells people apart. */
export function describeClient(): Record<string, string> {
  const agent = globalThis.navigator?.userAgent ?? '';
  const browser = /(Edg|OPR|Chrome|Firefox|Safari|Node\.js)\/[\d.]+/.exec(agent)?.[0] ?? 'unknown';
  const os = /Android|iPhone|iPad|Windows|Mac OS X|CrOS|Linux/.exec(agent)?.[0] ?? 'unknown';
  return { sdk: 'parley-js', version: VERSION, browser, os };
}
