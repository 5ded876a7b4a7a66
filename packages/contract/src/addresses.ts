/** What counts as one client: an IPv4 address, or the IPv6 /64 that one subscriber holds. */
export function addressKey(ip: string): string {
  return ipv4Of(ip) ?? ipv6GroupsOf(ip)?.slice(0, 4).join(':') ?? ip;
}

const DOTTED = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/;
const MAPPED_PREFIX = '0:0:0:0:0:ffff';

/** Written plainly, or mapped into IPv6 in any of the ways to write that. */
export function ipv4Of(ip: string): string | null {
  if (DOTTED.test(ip)) return ip;
  const groups = ipv6GroupsOf(ip);
  if (groups?.length !== 8 || groups.slice(0, 6).join(':') !== MAPPED_PREFIX) return null;
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** All eight groups, without leading zeros and with the groups of zeros that `::` stands for. */
export function ipv6GroupsOf(ip: string): string[] | null {
  if (!ip.includes(':')) return null;
  const [bare = ''] = ip.toLowerCase().split('%');
  const [left = [], right = []] = bare.split('::').map(groupsOf);
  const zeros = bare.includes('::') ? Array.from({ length: 8 - left.length - right.length }, () => '0') : [];
  return [...left, ...zeros, ...right];
}

const groupsOf = (part: string): string[] =>
  part
    .split(':')
    .filter((group) => group !== '')
    .flatMap((group) => dottedGroups(group) ?? [group.replace(/^0+(?=.)/, '')]);

/** The end of an IPv6 address may be written as an IPv4 address. */
function dottedGroups(group: string): string[] | null {
  const bytes = DOTTED.exec(group)?.slice(1).map(Number);
  if (!bytes) return null;
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  return [(a << 8) | b, (c << 8) | d].map((value) => value.toString(16));
}
