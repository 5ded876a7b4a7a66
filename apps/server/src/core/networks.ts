import { BlockList, isIP } from 'node:net';

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** `203.0.113.0/24`, `2001:db8::/32` or one address, in one way of writing; null when it is none of them. */
export function readNetwork(text: string): string | null {
  const [, address = '', prefix] = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const family = isIP(address);
  // An IPv4 address inside IPv6 would be another network than the one that is meant.
  if (family === 0 || (family === 6 && address.includes('.'))) return null;
  const bitsMax = family === 4 ? 32 : 128;
  const bits = Number(prefix ?? bitsMax);
  return bits > bitsMax ? null : `${address.toLowerCase()}/${bits}`;
}

/** Of networks as `readNetwork` writes them. */
export function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/', 2);
    list.addSubnet(address, Number(bits), familyOf(address));
  }
  return list;
}

export interface Networks {
  includes(ip: string): boolean;
}

export function networkList(networks: readonly string[]): Networks {
  const list = blockListOf(networks);
  return {
    includes(ip) {
      const [bare = ''] = ip.split('%', 1);
      return isIP(bare) !== 0 && list.check(bare, familyOf(bare));
    },
  };
}

export const loopbackNetworks = ['127.0.0.0/8', '::1/128'] as const;
/** What an operator may have inside. */
export const privateNetworks = ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'] as const;

/** What nobody outside reaches. */
export const insideNetworks = networkList([...loopbackNetworks, ...privateNetworks, '169.254.0.0/16', 'fe80::/10']);
