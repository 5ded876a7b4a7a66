import { lookup } from 'node:dns/promises';
import { connect, isIPv6 } from 'node:net';
import { type Finding, fail, ok, warn } from '@parley/server-app/doctor/finding';

const connectMsMax = 5_000;

export const hostOf = ({ hostname }: URL): string => hostname.replaceAll(/^\[|\]$/g, '');

/** `203.0.113.7:4443`, `[2001:db8::7]:4443`. */
export const endpoint = (host: string, port: number | string): string =>
  isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;

/** What is said there nobody else hears. */
export const isPrivate = (url: URL): boolean =>
  url.protocol === 'https:' || /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(hostOf(url));

export const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === 'https:' ? 443 : 80);

/** As every program of this machine resolves it. */
export async function checkName(url: URL): Promise<{ finding: Finding; addresses: string[] }> {
  const host = hostOf(url);
  const found = await lookup(host, { all: true }).catch(() => []);
  const addresses = [...new Set(found.map(({ address }) => address))];
  if (addresses.length > 0) return { finding: ok('dns', `${host} is ${addresses.join(', ')}.`), addresses };
  const fix = `Make an A record (and AAAA for IPv6) for ${host}, or look for a typing error and at this network’s name server.`;
  return { finding: fail('dns', `${host} has no address here.`, fix), addresses };
}

/** What a machine without a route to this family says. */
const noRoute = ['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'];

interface Attempt {
  address: string;
  /** Null when it is open. */
  problem: string | null;
}

/** By each address of the name: browsers try them all, and one that leads nowhere costs them time. */
export async function checkTcp(
  url: URL,
  addresses: readonly string[],
): Promise<{ findings: Finding[]; isOpen: boolean }> {
  const port = portOf(url);
  const attempts = await Promise.all(addresses.map((address) => attempt(address, port)));
  const closed = attempts.filter(({ problem }) => problem !== null);
  const isOpen = closed.length < attempts.length;
  if (!isOpen) return { findings: [unreachable(url, closed)], isOpen };
  const open = attempts.flatMap(({ address, problem }) => (problem === null ? [address] : []));
  const findings = [ok('tcp', `TCP ${port} is open at ${open.join(', ')}.`)];
  for (const { address, problem } of closed) findings.push(halfOpen(url, address, problem ?? ''));
  return { findings, isOpen };
}

function attempt(address: string, port: number): Promise<Attempt> {
  const socket = connect({ host: address, port, timeout: connectMsMax });
  return new Promise<Attempt>((resolve) => {
    socket.once('connect', () => resolve({ address, problem: null }));
    socket.once('timeout', () => resolve({ address, problem: 'ETIMEDOUT' }));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve({ address, problem: code ?? 'no answer' }));
  }).finally(() => socket.destroy());
}

function unreachable(url: URL, closed: readonly Attempt[]): Finding {
  const [host, port] = [hostOf(url), portOf(url)];
  const where = closed.map(({ address, problem }) => `${address} (${problem})`).join(', ');
  const isRefused = closed.some(({ problem }) => problem === 'ECONNREFUSED');
  const fix = isRefused
    ? `Nothing listens there: start the service, or let TCP ${port} of ${host} lead to it.`
    : `Something in between drops the connection: open TCP ${port} to ${host}, in the firewall of this network and in the server’s.`;
  return fail('tcp', `TCP ${port} of ${host} is closed from here: ${where}.`, fix);
}

function halfOpen(url: URL, address: string, problem: string): Finding {
  const family = isIPv6(address) ? 'AAAA' : 'A';
  if (noRoute.includes(problem)) return ok('tcp', `This network does not reach ${address}, and need not (${problem}).`);
  return warn(
    'tcp',
    `TCP ${portOf(url)} is closed at ${address} (${problem}).`,
    `Let the service listen there too, or take the ${family} record away.`,
  );
}
