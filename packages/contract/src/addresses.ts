/** What counts as one client: an IPv4 address, or the IPv6 /64 that one subscriber holds. */
export function addressKey(ip: string): string {
  return ipv4Of(ip) ?? ipv6GroupsOf(ip)?.slice(0, 4).join(':') ?? ip;
}

/** Written plainly, or mapped into IPv6 as a dual-stack socket shows it. */
export const ipv4Of = (ip: string): string | null => /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1] ?? null;

/** All eight groups, with the zeros that `::` stands for. */
export function ipv6GroupsOf(ip: string): string[] | null {
  if (!ip.includes(':')) return null;
  const [bare = ''] = ip.toLowerCase().split('%');
  const [left = [], right = []] = bare.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = bare.includes('::') ? Array.from({ length: 8 - left.length - right.length }, () => '0') : [];
  return [...left, ...zeros, ...right];
}
