import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import type { networkInterfaces } from 'node:os';

export type Interfaces = ReturnType<typeof networkInterfaces>;

/** Everything of IPv4 that is not routed on the internet (RFC 6890), and the IPv6 examples inside what is. */
const special = new BlockList();
for (const network of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '2001:db8::/32',
]) {
  const [address = '', bits] = network.split('/');
  special.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4');
}
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/** Whether the internet could reach it. */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !special.check(address);
  return isIPv6(address) && globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

const isLinkLocal = (address: string): boolean => address.startsWith('169.254.') || /^fe[89ab]/i.test(address);

/** Networks that exist only inside this machine: containers' and virtual machines' bridges. */
const bridge = /^(?:docker|br-|veth|virbr|lxcbr|lxdbr|podman|cni|flannel|cali|cilium|kube|nerdctl)/;

const wildcards: Readonly<Record<string, readonly number[]>> = { '0.0.0.0': [4], '::': [4, 6] };

/**
 * Addresses of this machine that others may reach. Bridges only where there is nothing else: a host that has nothing
 * but one may be reached through it.
 */
export function ownAddresses(interfaces: Interfaces, bindAddress: string | null): string[] {
  const all = Object.entries(interfaces).flatMap(([name, entries]) =>
    (entries ?? [])
      .filter(({ internal, address }) => !internal && !isLinkLocal(address))
      .map(({ address }) => ({ address, isBridge: bridge.test(name) })),
  );
  const families = bindAddress === null ? [4, 6] : wildcards[bindAddress];
  const received = all.filter(({ address }) => families?.includes(isIP(address)) ?? address === bindAddress);
  const real = received.filter(({ isBridge }) => !isBridge);
  return (real.length > 0 ? real : received).map(({ address }) => address);
}

/** Public before private, since most clients come from outside; IPv6 before IPv4 there, for it has no NAT (RFC 8421). */
function rankOf(address: string): number {
  if (isPublic(address)) return isIPv6(address) ? 0 : 1;
  return isIPv4(address) ? 2 : 3;
}

export const inOrder = (addresses: Iterable<string>): string[] =>
  [...new Set(addresses)].sort((a, b) => rankOf(a) - rankOf(b));
