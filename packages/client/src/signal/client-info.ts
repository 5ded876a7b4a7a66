import { VERSION } from '../version.ts';

/** The client's platform, for the connection's page in the dashboard. Nothing here identifies a person. */
export function describeClient(): Record<string, string> {
  const agent = globalThis.navigator?.userAgent ?? '';
  const browser = /(Edg|OPR|Chrome|Firefox|Safari|Node\.js)\/[\d.]+/.exec(agent)?.[0] ?? 'unknown';
  const os = /Android|iPhone|iPad|Windows|Mac OS X|CrOS|Linux/.exec(agent)?.[0] ?? 'unknown';
  return { sdk: 'parley-js', version: VERSION, browser, os };
}
