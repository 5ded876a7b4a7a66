import type { LookupAddress, LookupOptions } from 'node:dns';
import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import { isIPv6, type LookupFunction } from 'node:net';
import { type AddressPolicy, isAddressAllowed } from './address-guard.ts';
import { isLoopbackName } from './url-check.ts';

/** Every address of a name; rejects when there is none. */
export type Resolve = (hostname: string) => Promise<string[]>;

/** The name has no address that a webhook may go to. Which of the two it is, the outside must not learn. */
export class NoUsableAddress extends Error {
  override name = 'NoUsableAddress';
}

interface ResolverOptions {
  /** Name servers to ask instead of the machine's own. */
  servers?: readonly string[];
  /** Whether names that only this machine knows (its hosts file) count too. */
  usesSystemNames: boolean;
}

/**
 * Asks the name servers without the thread pool: `dns.lookup` would hold one of its four threads for each name that
 * does not answer, and with them every other user of the pool.
 */
export function createResolve({ servers, usesSystemNames }: ResolverOptions): Resolve {
  const resolver = new Resolver({ timeout: 1_500, tries: 2 });
  if (servers) resolver.setServers(servers);

  return async (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    if (isLoopbackName(name)) return ['127.0.0.1', '::1'];
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length > 0 || !usesSystemNames) return found;
    return (await systemLookup(name, { all: true })).map(({ address }) => address);
  };
}

/**
 * The `lookup` of a connection: all addresses of the name, or a refusal when even one of them is not allowed. What it
 * returns is what is connected to; the name is not resolved again.
 */
export function guardedLookup(resolve: Resolve, policy: AddressPolicy): LookupFunction {
  const vetted = async (hostname: string): Promise<LookupAddress[]> => {
    const addresses = await resolve(hostname).catch(() => []);
    if (addresses.length === 0 || !addresses.every((address) => isAddressAllowed(address, policy)))
      throw new NoUsableAddress('The name has no address that a webhook may go to.');
    return addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  };

  return (hostname: string, options: LookupOptions, callback) => {
    vetted(hostname).then(
      (addresses) => {
        const [first] = addresses;
        // Node asks for all of them (it tries each in turn) and then takes nothing but a list.
        if (options.all) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}
