import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listenAddress } from '../../src/core/addresses.ts';

/** A port that the system chose, for a service in this process: it is open already, and what listens takes it over. */
export interface OpenPort {
  port: number;
  listener: Server;
}

export async function openPort(host = '127.0.0.1'): Promise<OpenPort> {
  const listener = createServer();
  await once(listener.listen(0, listenAddress(host)), 'listening');
  // A listening TCP server always has an AddressInfo.
  return { port: (listener.address() as AddressInfo).port, listener };
}

/** Below those that the system hands out by itself. */
const [firstOwned, endOfOwned] = [22_000, 32_000];
/** How many a claim is for: of a media node, each process takes the next one. */
const portsPerClaim = 4;

/**
 * A port, of TCP and UDP, that no other test of any process gets while this one lives, for what is started on it later,
 * or again. The three after it are the caller's too.
 */
export async function ownPort(): Promise<number> {
  for (;;) {
    const port = firstOwned + portsPerClaim * randomInt((endOfOwned - firstOwned) / portsPerClaim);
    if (claim(port) && (await areFree(port))) return port;
  }
}

const marks: string[] = [];

/** Claimed by the process that creates its mark, until it ends. */
export function claim(port: number): boolean {
  const mark = join(tmpdir(), `parley-port-${port}`);
  if (!create(mark) && !takeOver(mark)) return false;
  if (marks.length === 0) process.once('exit', removeMarks);
  marks.push(mark);
  return true;
}

function create(mark: string): boolean {
  try {
    writeFileSync(mark, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

/** A process that was killed left it. By one at a time: another may have taken it over since we looked. */
function takeOver(mark: string): boolean {
  const lock = `${mark}-lock`;
  if (isHeld(mark) || !create(lock)) return false;
  if (!isHeld(mark)) rmSync(mark, { force: true });
  const isOurs = create(mark);
  rmSync(lock, { force: true });
  return isOurs;
}

function isHeld(mark: string): boolean {
  try {
    // Of one that is being written, 0: our own group.
    return process.kill(Number(readFileSync(mark, 'utf8')), 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

function removeMarks(): void {
  for (const mark of marks) rmSync(mark, { force: true });
}

async function areFree(first: number): Promise<boolean> {
  const ports = Array.from({ length: portsPerClaim }, (_, index) => first + index);
  return (await Promise.all(ports.flatMap((port) => [isFree(port), isFreeForUdp(port)]))).every(Boolean);
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

function isFreeForUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.once('error', () => socket.close(() => resolve(false)));
    socket.bind(port, () => socket.close(() => resolve(true)));
  });
}
