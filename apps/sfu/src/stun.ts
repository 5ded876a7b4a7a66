import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';

/** As much of STUN (RFC 8489) as it takes to ask a server which address it sees. */
const BINDING_REQUEST = 0x0001;
const BINDING_SUCCESS = 0x0101;
const XOR_MAPPED_ADDRESS = 0x0020;
const MAGIC_COOKIE = 0x2112a442;
const HEADER_BYTES = 20;
const IPV6 = 0x02;
/** Sent at these times; the last one waits for an answer as long as the first two together. */
const ATTEMPTS_MS = [0, 300, 900];
const PATIENCE_MS = 1800;

export interface StunServer {
  host: string;
  port: number;
}

/** The addresses that the server sees us at, one a family; none of a family in which it does not answer. */
export async function askStun({ host, port }: StunServer): Promise<string[]> {
  const servers = await lookup(host, { all: true }).catch(() => []);
  const ofEach = [4, 6].flatMap((family) => servers.find((server) => server.family === family) ?? []);
  const answers = await Promise.all(ofEach.map(({ address, family }) => ask(address, port, family)));
  return answers.flatMap((address) => address ?? []);
}

function ask(address: string, port: number, family: number): Promise<string | null> {
  const transaction = randomBytes(12);
  const request = bindingRequest(transaction);
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
  return new Promise<string | null>((resolve) => {
    socket.on('error', () => resolve(null));
    socket.on('message', (packet) => {
      const seen = readBindingAnswer(packet, transaction);
      if (seen !== null) resolve(seen);
    });
    const timers = ATTEMPTS_MS.map((ms) => setTimeout(() => socket.send(request, port, address), ms));
    timers.push(setTimeout(() => resolve(null), PATIENCE_MS));
    socket.once('close', () => timers.forEach(clearTimeout));
  }).finally(() => socket.close());
}

function bindingRequest(transaction: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt16BE(BINDING_REQUEST, 0);
  header.writeUInt32BE(MAGIC_COOKIE, 4);
  return Buffer.concat([header, transaction]);
}

/** Null when the packet is no answer to this request. */
export function readBindingAnswer(packet: Buffer, transaction: Buffer): string | null {
  if (packet.length < HEADER_BYTES || packet.readUInt16BE(0) !== BINDING_SUCCESS) return null;
  if (packet.readUInt32BE(4) !== MAGIC_COOKIE || !packet.subarray(8, HEADER_BYTES).equals(transaction)) return null;
  for (let at = HEADER_BYTES; at + 4 <= packet.length; ) {
    const length = packet.readUInt16BE(at + 2);
    const value = packet.subarray(at + 4, at + 4 + length);
    if (packet.readUInt16BE(at) === XOR_MAPPED_ADDRESS) return readXorAddress(value, packet.subarray(4, HEADER_BYTES));
    at += 4 + Math.ceil(length / 4) * 4;
  }
  return null;
}

/** `mask` is the cookie and the transaction id, which the address is hidden with. */
function readXorAddress(value: Buffer, mask: Buffer): string | null {
  const isV6 = value[1] === IPV6;
  const bytes = [...value.subarray(4)].map((byte, index) => byte ^ (mask[index] ?? 0));
  if (bytes.length !== (isV6 ? 16 : 4)) return null;
  if (!isV6) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0)).toString(16),
  );
  // Node's URL writes it in the one way that addresses are compared in.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
