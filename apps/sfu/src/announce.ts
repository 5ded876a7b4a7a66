import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type Interfaces, inOrder, isPublic, ownAddresses } from './addresses.ts';
import { askCluster, type Cluster } from './cluster.ts';
import { ConfigError, type NodeConfig } from './config.ts';
import { askStun, type StunServer } from './stun.ts';

/** Where the node looks for its addresses; another in tests. */
export interface Sources {
  interfaces(): Interfaces;
  resolve(host: string): Promise<string[]>;
  stun(server: StunServer): Promise<string[]>;
  cluster(cluster: Cluster): Promise<string[]>;
}

export const machine: Sources = {
  interfaces: networkInterfaces,
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  stun: askStun,
  cluster: askCluster,
};

type AddressConfig = Pick<
  NodeConfig,
  'isProduction' | 'announcedHost' | 'publicAddresses' | 'stunServer' | 'cluster' | 'namedHost' | 'bindAddress'
>;

/** Where clients reach this machine, best first. `observed`: the address that the control plane sees us at. */
export async function findAddresses(
  config: AddressConfig,
  sources: Sources,
  observed: string | null,
): Promise<string[]> {
  if (config.announcedHost !== null) return sources.resolve(config.announcedHost);
  const own = ownAddresses(sources.interfaces(), config.bindAddress);
  const first = await firstAddresses(config, sources, own, observed);
  const found = [...new Set([...first, ...inOrder(own)])];
  if (found.length > 0) return found;
  if (!config.isProduction) return ['127.0.0.1'];
  throw new ConfigError('This machine has no address that clients could reach: set SFU_ANNOUNCED_HOST.');
}

/** Those to name before the machine's own: given ones as they are, by us or by the cluster; found ones public first. */
async function firstAddresses(
  { publicAddresses, stunServer, cluster, namedHost }: AddressConfig,
  sources: Sources,
  own: readonly string[],
  observed: string | null,
): Promise<string[]> {
  if (publicAddresses !== 'auto') return [...publicAddresses];
  const assigned = cluster ? await sources.cluster(cluster) : [];
  if (assigned.length > 0) return assigned;
  const named = namedHost === null ? [] : await sources.resolve(namedHost).catch(() => []);
  const seen = [own, stunServer ? await sources.stun(stunServer) : [], observed === null ? [] : [observed], named];
  // Of each family the most reliable: on an interface, by the operator's STUN server, by the control plane, by its name.
  const preferred = [6, 4].flatMap((family) => {
    const ofFamily = (address: string): boolean => isIP(address) === family && isPublic(address);
    return seen.map((addresses) => addresses.filter(ofFamily)).find((addresses) => addresses.length > 0) ?? [];
  });
  return [...named.filter((address) => own.includes(address)), ...inOrder(preferred)];
}

/** Preference of a host candidate (RFC 8445 5.1.2): the first address most. */
const priorityOf = (index: number): number => 2_130_706_431 - index * 256;

export const candidatesOf = (addresses: readonly string[], port: number): string[] =>
  addresses.map((address, index) => `udp ${priorityOf(index)} ${address} ${port} host`);

/** The last answer that was one: a name server that is away for a moment takes no address from us. */
function lastGood<T>(ask: (subject: T) => Promise<string[]>): (subject: T) => Promise<string[]> {
  let last: string[] | undefined;
  return async (subject) => {
    const found = await ask(subject).catch((error: unknown) => last ?? Promise.reject(error));
    last = found.length > 0 ? found : (last ?? found);
    return last;
  };
}

/** The addresses as they are now: machines move, and providers give them others. */
export class Announcer {
  readonly #config: AddressConfig;
  readonly #sources: Sources;
  #addresses: readonly string[] = [];
  #observed: string | null = null;

  constructor(config: AddressConfig, { interfaces, resolve, stun, cluster }: Sources) {
    this.#config = config;
    this.#sources = { interfaces, resolve: lastGood(resolve), stun: lastGood(stun), cluster: lastGood(cluster) };
  }

  get addresses(): readonly string[] {
    return this.#addresses;
  }

  /** What the fleet lists the node under. */
  get publicHost(): string {
    return this.#config.announcedHost ?? this.#addresses[0] ?? '127.0.0.1';
  }

  /** By which clients ask for the relay: an address of each family, for a client may have one of them only. */
  get relayHosts(): string[] {
    if (this.#config.announcedHost !== null) return [this.#config.announcedHost];
    return [4, 6].flatMap((family) => this.#addresses.find((address) => isIP(address) === family) ?? []);
  }

  /** Looks again; true when clients have to be told other addresses from now on. */
  async look(observed: string | null): Promise<boolean> {
    this.#observed = observed ?? this.#observed;
    const found = await findAddresses(this.#config, this.#sources, this.#observed);
    // Name servers answer in any order.
    const isSame = found.toSorted().join() === this.#addresses.toSorted().join();
    if (!isSame) this.#addresses = found;
    return !isSame;
  }
}
