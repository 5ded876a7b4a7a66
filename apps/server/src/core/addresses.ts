/** What counts as one client: an IPv4 address, or the IPv6 /64 that one subscriber holds. */
export function addressKey(ip: string): string {
  return ipv4Of(ip) ?? ipv6GroupsOf(ip)?.slice(0, 4).join(':') ?? ip;
}

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

/** Written plainly, or mapped into IPv6 as a dual-stack socket shows it. */
const ipv4Of = (ip: string): string | null => /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1] ?? null;

/** As everybody writes it: an IPv4 address that was mapped into IPv6 is one again. */
export const plainAddress = (ip: string): string => ipv4Of(ip) ?? ip;

/** All eight groups, with the zeros that `::` stands for. */
function ipv6GroupsOf(ip: string): string[] | null {
  if (!ip.includes(':')) return null;
  const [bare = ''] = ip.toLowerCase().split('%');
  const [left = [], right = []] = bare.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = bare.includes('::') ? Array.from({ length: 8 - left.length - right.length }, () => '0') : [];
  return [...left, ...zeros, ...right];
}
