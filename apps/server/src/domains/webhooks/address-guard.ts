import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { blockListOf, loopbackNetworks, privateNetworks } from '../../core/networks.ts';

/** Which addresses a request may go to. */
export interface AddressPolicy {
  /** Loopback: development endpoints of an instance that is not in production. */
  allowsLoopback: boolean;
  /** Private networks too: the operator said so (WEBHOOK_ALLOW_PRIVATE). */
  allowsPrivate: boolean;
}

const loopback = blockListOf(loopbackNetworks);

/** Networks an operator may have good reasons to send to. */
const inside = blockListOf(privateNetworks);

/** Denied in every mode: cloud metadata and what no receiver can have. The two single hosts are Azure's and Alibaba's. */
const forbidden = blockListOf([
  '0.0.0.0/8',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16/32',
  '100.100.100.200/32',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
  // Amazon's metadata service over IPv6, inside the private fc00::/7.
  'fd00:ec2::254/128',
]);

/** IPv4 inside IPv6 is judged as IPv4: ::ffff:a.b.c.d and its translated form ::ffff:0:a.b.c.d. */
const embedding = blockListOf(['::ffff:0:0/96', '::ffff:0:0:0/96']);
/** IPv4-compatible, deprecated: no host has such an address, but some stacks take it for IPv4. */
const compatible = blockListOf(['::/96']);

/** True when a request may be sent to this address. What is not an address at all may not. */
export function isAddressAllowed(text: string, policy: AddressPolicy): boolean {
  const address = text.split('%', 1)[0] ?? '';
  const version = isIP(address);
  if (version === 0) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (family === 'ipv6' && embedding.check(address, family)) return isAddressAllowed(lastFourBytes(address), policy);
  if (loopback.check(address, family)) return policy.allowsLoopback || policy.allowsPrivate;
  if (forbidden.check(address, family) || (family === 'ipv6' && compatible.check(address, family))) return false;
  return policy.allowsPrivate || !(inside.check(address, family) || isOwnAddress(address));
}

/** The IPv4 address in the last 32 bits, from any spelling of an IPv6 address. */
function lastFourBytes(address: string): string {
  const hostname = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const groups = hostname.split(':').slice(-2);
  // The serializer drops leading zeros and, where both groups are zero, the groups themselves.
  const [high = 0, low = 0] = groups.map((group) => Number.parseInt(group || '0', 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** This machine by its public address is still this machine. */
function isOwnAddress(address: string): boolean {
  return Object.values(networkInterfaces()).some((entries) => entries?.some((entry) => entry.address === address));
}

/** Ports on which something other than a web server listens; a POST there can be read as commands. */
const deniedPorts = new Set([
  1433, 1521, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 4369, 5432, 5672, 5984, 6379, 6380, 6443, 8500, 9042, 9092,
  9200, 9300, 10250, 10255, 11211, 15672, 26379, 27017, 27018,
]);

export const isPortAllowed = (port: number): boolean =>
  port === 80 || port === 443 || (port >= 1024 && port <= 65535 && !deniedPorts.has(port));

export const isLiteral = (hostname: string): boolean => isIP(bare(hostname)) !== 0;

/** An IPv6 host without the brackets it has in a URL. */
export const bare = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');
