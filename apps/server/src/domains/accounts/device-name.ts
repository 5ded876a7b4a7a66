import { networkList, privateNetworks } from '../../core/networks.ts';

/** The most telling name first: Chrome calls itself Safari too. */
const browsers = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
] as const;
const systems = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux|X11/, 'Linux'],
] as const;

const firstOf = (names: readonly (readonly [RegExp, string])[], text: string): string | undefined =>
  names.find(([pattern]) => pattern.test(text))?.[1];

/** `Firefox on Linux`; what is not a browser we know keeps its own first word. */
export function deviceName(userAgent: string | null): string | null {
  if (userAgent === null) return null;
  const browser = firstOf(browsers, userAgent);
  const system = firstOf(systems, userAgent);
  if (!browser) return userAgent.split(/[\s/]/)[0] || null;
  return system ? `${browser} on ${system}` : browser;
}

const inside = networkList(privateNetworks);

/** Where a masked address is. Without a map of the world: this machine, a private network, or the network itself. */
export function placeName(maskedIp: string | null): string | null {
  if (maskedIp === null) return null;
  if (maskedIp.startsWith('127.') || maskedIp === '0:0:0::') return 'This machine';
  const network = `${maskedIp}/${maskedIp.includes(':') ? 48 : 24}`;
  return inside.includes(maskedIp) ? `Private network ${network}` : network;
}
