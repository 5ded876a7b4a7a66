import { lookup as resolve } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { fail } from '@parley/contract';

/**
 * Where the control plane may connect to. A node names its own `internalUrl`, so without this list anyone who holds the
 * registration secret could make us call any address we can reach.
 */
export interface HostGuard {
  /** Refuses what can never be allowed; a name that is not on the list is decided by its addresses, at connect. */
  check(internalUrl: string): void;
  /** Every address of the host when all of them are allowed; throws otherwise. Connect to these and no others. */
  addressesOf(hostname: string): Promise<{ address: string; family: 4 | 6 }[]>;
}

/** `entries`: CIDRs, addresses, host names, or `*.example.com`. */
export function createHostGuard(entries: readonly string[]): HostGuard {
  const networks = new BlockList();
  const names = new Set<string>();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/', 2);
    const family = isIP(address);
    if (family === 0) names.add(entry.toLowerCase());
    else networks.addSubnet(address, Number(prefix ?? (family === 4 ? 32 : 128)), family === 4 ? 'ipv4' : 'ipv6');
  }

  const isListedName = (host: string): boolean =>
    names.has(host) || [...names].some((name) => name.startsWith('*.') && host.endsWith(name.slice(1)));
  const isListedAddress = (address: string): boolean => networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

  return {
    check(internalUrl) {
      const problem = shapeProblem(internalUrl);
      if (problem) refuse(problem);
      const host = hostOf(new URL(internalUrl));
      if (isIP(host) !== 0 && !isListedAddress(host)) refuse('is not in SFU_ALLOWED_HOSTS');
    },
    async addressesOf(hostname) {
      const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
      const found = await resolve(host, { all: true });
      const isAllowed = isListedName(host) || found.every(({ address }) => isListedAddress(address));
      if (found.length === 0 || !isAllowed) throw new Error(`${host} is not in SFU_ALLOWED_HOSTS`);
      return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
    },
  };
}

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').toLowerCase();

function shapeProblem(text: string): string | null {
  if (!URL.canParse(text)) return 'must be a URL';
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return 'must start with http:// or https://';
  if (username !== '' || password !== '') return 'must not hold credentials';
  if (search !== '' || hash !== '') return 'must not have a query or a fragment';
  return null;
}

function refuse(problem: string): never {
  const message = `internalUrl ${problem}.`;
  return fail('SVC_VALIDATION_FAILED', { message, details: [{ field: 'internalUrl', rule: 'url', message }] });
}
