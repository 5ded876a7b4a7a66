import { networkInterfaces } from 'node:os';
import { ipv4Of, ipv6GroupsOf } from '@parley/contract/addresses';

export { addressKey } from '@parley/contract/addresses';

/** The network and not the person: 203.0.113.9 is 203.0.113.0. Null when it is no IP address. */
export const maskedAddress = (ip: string): string | null => networkOf(ip)?.address ?? null;

/** The same with the length of its prefix: 203.0.113.0/24. */
export function maskedNetwork(ip: string): string | null {
  const network = networkOf(ip);
  return network && `${network.address}/${network.prefixBits}`;
}

function networkOf(ip: string): { address: string; prefixBits: 24 | 48 } | null {
  const ipv4 = ipv4Of(ip);
  if (ipv4 !== null) return { address: ipv4.replace(/\d+$/, '0'), prefixBits: 24 };
  const groups = ipv6GroupsOf(ip);
  return groups && { address: `${groups.slice(0, 3).join(':')}::`, prefixBits: 48 };
}

/** As everybody writes it: an IPv4 address that was mapped into IPv6 is one again. */
export const plainAddress = (ip: string): string => ipv4Of(ip) ?? ip;

/** `::` takes IPv4 too, but cannot be opened where the system has no IPv6. */
export const listenAddress = (host: string, interfaces = networkInterfaces()): string => {
  const hasIpv6 = Object.values(interfaces).some((all) => all?.some(({ family }) => family === 'IPv6'));
  return host === '::' && !hasIpv6 ? '0.0.0.0' : host;
};
