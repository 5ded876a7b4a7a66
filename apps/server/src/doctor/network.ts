import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { createServer, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Config } from '../config.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Whether a Parley process answers on this machine's port. */
export async function isOurs(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(2_000) });
    return answer.headers.has('x-request-id') && ((await answer.json()) as { status?: string }).status === 'OK';
  } catch {
    return false;
  }
}

export async function checkPort({ host, port }: Config, isRunning: boolean): Promise<Finding> {
  const problem = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port }, () => server.close(() => resolve(null)));
  });
  if (problem === null) return ok('port', `Port ${port} is free.`);
  if (isRunning) return ok('port', `A Parley process listens on port ${port}.`);
  if (problem.code === 'EADDRINUSE')
    return fail('port', `Port ${port} is in use by another process.`, `Use PORT=${port + 1}, or stop that process.`);
  const fix =
    problem.code === 'EACCES'
      ? `Give the process CAP_NET_BIND_SERVICE, or set TLS and map ${port} to another PORT.`
      : 'Set PORT and HOST to what is free.';
  return fail('port', `Port ${port} of ${host} cannot be used (${problem.code}).`, fix);
}

const arriveMs = 1_500;

/** Binds the media port and sends itself a packet by the address that clients will use. */
export async function checkMedia(config: Config, announcedHost: string | null, isRunning: boolean): Promise<Finding[]> {
  const socket = createSocket('udp4');
  try {
    const problem = await bind(socket, config.sfuUdpPort);
    if (problem !== null) return [udpTaken(config.sfuUdpPort, isRunning), await checkAddress(announcedHost, null, 0)];
    return [
      ok('udp', `UDP port ${config.sfuUdpPort} is free.`),
      await checkAddress(announcedHost, socket, config.sfuUdpPort),
    ];
  } finally {
    socket.close();
  }
}

/** What the running service says of its media: a call without it would only be silent. */
export async function checkRunningMedia({ port }: Config): Promise<Finding> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_000) })
    .then((response) => response.json() as Promise<{ media?: { status: string; message?: string } }>)
    .catch(() => null);
  switch (answer?.media?.status) {
    case 'OK':
      return ok('media', 'A media node takes rooms.');
    case 'STARTING':
      return warn('media', 'The media node is still starting.', 'Look again in a few seconds.');
    default:
      return fail(
        'media',
        answer?.media?.message ?? 'The running service does not say how its media is.',
        'Calls would have no sound and no picture. See the log of the media node, and its SFU_ settings.',
      );
  }
}

const udpTaken = (port: number, isRunning: boolean): Finding =>
  isRunning
    ? ok('udp', `UDP port ${port} is in use, as it should be while the service runs.`)
    : fail('udp', `UDP port ${port} is in use by another process.`, 'Set SFU_UDP_PORT to a free one.');

const bind = (socket: Socket, port: number): Promise<NodeJS.ErrnoException | null> =>
  new Promise((resolve) => {
    socket.once('error', resolve);
    socket.bind(port, () => resolve(null));
  });

/** Addresses of this machine, loopback included. */
const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address));

async function checkAddress(announcedHost: string | null, socket: Socket | null, port: number): Promise<Finding> {
  if (announcedHost === null)
    return ok(
      'address',
      `No address is set: clients are told ${ownAddresses().filter(isPublicShape).join(', ')}, and the public one if it is found (SFU_PUBLIC_IP).`,
    );
  const [address] = await lookup(announcedHost, { all: true, family: 4 }).catch(() => []);
  if (address === undefined)
    return fail(
      'address',
      `SFU_ANNOUNCED_HOST ${announcedHost} has no IPv4 address.`,
      'Set it to the address that clients reach this machine at.',
    );
  if (ownAddresses().includes(address.address))
    return isLoopback(address.address)
      ? warn(
          'address',
          `Clients are told ${address.address}: only browsers on this machine will have media.`,
          'Set SFU_ANNOUNCED_HOST to an address that others reach.',
        )
      : ok('address', `${announcedHost} is an address of this machine.`);
  if (socket !== null && (await arrives(socket, address.address, port)))
    return ok('address', `Packets to ${address.address} come back to this machine through its NAT.`);
  return fail(
    'address',
    `Clients are told ${address.address}, and packets sent there do not reach this machine: calls would have no media.`,
    'Set SFU_ANNOUNCED_HOST to this machine’s public address, and forward its UDP port. A NAT that does not send packets back inside (no hairpin) looks the same: then try checkConnection() from outside.',
  );
}

const isLoopback = (address: string): boolean => address.startsWith('127.');
const isPublicShape = (address: string): boolean => isIP(address) === 4 && !isLoopback(address);

function arrives(socket: Socket, address: string, port: number): Promise<boolean> {
  const word = `parley-doctor-${process.pid}`;
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), arriveMs);
    const done = (isThere: boolean): void => {
      clearTimeout(timer);
      resolve(isThere);
    };
    socket.on('message', (packet) => packet.toString() === word && done(true));
    socket.send(word, port, address, (error) => error && done(false));
  });
}
