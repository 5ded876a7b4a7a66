import { isIPv4, isIPv6, SocketAddress } from 'node:net';

/** A transport address; `address` is in the form that `addressOf` writes, so that equal ones are equal text. */
export interface Address {
  family: 4 | 6;
  address: string;
  port: number;
}

/** The bytes of an IP address: 4 or 16. */
export function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = withoutDots(address).split('::', 2);
  const front = groupsOf(head);
  const back = tail === undefined ? [] : groupsOf(tail);
  const groups = [...front, ...Array<number>(Math.max(0, 8 - front.length - back.length)).fill(0), ...back];
  const bytes = Buffer.alloc(16);
  for (const [index, group] of groups.slice(0, 8).entries()) bytes.writeUInt16BE(group, index * 2);
  return bytes;
}

const groupsOf = (text: string): number[] =>
  text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));

/** The last 32 bits of an IPv6 address may be written as IPv4. */
const withoutDots = (address: string): string =>
  address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) => {
    const pair = (high: string, low: string) => (Number(high) * 256 + Number(low)).toString(16);
    return `${pair(a, b)}:${pair(c, d)}`;
  });

const MAPPED = Buffer.from('00000000000000000000ffff', 'hex');

/** An IPv4 address that is wrapped in IPv6 is that IPv4 address: it must not pass as another one. */
export function addressOf(ip: Buffer, port: number): Address {
  if (ip.length === 4) return { family: 4, address: ip.join('.'), port };
  if (ip.subarray(0, 12).equals(MAPPED)) return addressOf(ip.subarray(12), port);
  const groups = Array.from({ length: 8 }, (_, index) => ip.readUInt16BE(index * 2).toString(16));
  return { family: 6, address: new SocketAddress({ family: 'ipv6', address: groups.join(':') }).address, port };
}

/** Undefined when it is no IP address. */
export function parseAddress(text: string, port: number): Address | undefined {
  const address = text.replace(/%.*$/, '');
  return isIPv4(address) || isIPv6(address) ? addressOf(bytesOf(address), port) : undefined;
}

export const keyOf = ({ address, port }: Address): string => `${address}|${port}`;
