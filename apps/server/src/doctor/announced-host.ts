import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { type Finding, fail, ok, warn } from './finding.ts';
import { bind } from './udp.ts';

const arriveMs = 1_500;

/** Addresses of this machine, loopback included. */
const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address));

const isLoopback = (address: string): boolean => address.startsWith('127.');

/** Sends this machine a packet by the address that clients will use; `port` is null while somebody else has it. */
export async function checkAnnouncedHost(announcedHost: string, port: number | null): Promise<Finding> {
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
  if (port !== null && (await arrives(address.address, port)))
    return ok('address', `Packets to ${address.address} come back to this machine through its NAT.`);
  return fail(
    'address',
    `Clients are told ${address.address}, and packets sent there do not reach this machine: calls would have no media.`,
    'Set SFU_ANNOUNCED_HOST to this machine’s public address, and forward its UDP port. A NAT that does not send packets back inside (no hairpin) looks the same: then try parley doctor --from on another network.',
  );
}

async function arrives(address: string, port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  try {
    return (await bind(socket, port)) === null && (await receivesItsOwn(socket, address, port));
  } finally {
    socket.close();
  }
}

function receivesItsOwn(socket: Socket, address: string, port: number): Promise<boolean> {
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
