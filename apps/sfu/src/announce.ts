import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';

/** Preference of a host candidate (RFC 8445 5.1.2): the first address most. */
const priorityOf = (index: number): number => 2_130_706_431 - index * 256;

/** The addresses clients may reach this machine at: the announced host, or every address of this machine. */
export async function announcedAddresses(announcedHost: string | null): Promise<string[]> {
  if (announcedHost === null) return lanAddresses();
  const found = await lookup(announcedHost, { all: true });
  return found.map(({ address }) => address);
}

/** Addresses of this machine on its networks; loopback only where there is nothing else. */
function lanAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const usable = all.filter(({ internal, scopeid }) => !internal && !scopeid);
  const sorted = usable.sort((a, b) => a.family.localeCompare(b.family)).map(({ address }) => address);
  return sorted.length > 0 ? sorted : ['127.0.0.1'];
}

export const candidatesOf = (addresses: readonly string[], port: number): string[] =>
  addresses.map((address, index) => `udp ${priorityOf(index)} ${address} ${port} host`);
